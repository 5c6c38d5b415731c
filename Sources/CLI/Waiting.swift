internal import Configuration
internal import HTTPKit
internal import PosixKit

extension Waiting {
  /// The answer to one request; nil where none came within so many seconds.
  static func answer(to request: HTTPRequest, within seconds: Double) -> Result<HTTPResponse, HTTPError>? {
    let client = HTTPClient(name: "command-http")
    defer { client.stop() }
    return result(within: seconds) { client.fetch(request, completion: $0) }
  }
}

/// The user's settings, for commands that take no options of a mount.
enum CommandSettings {
  static func load() throws -> (places: Places, settings: Settings) {
    let places = try Places()
    let loaded = try Settings.load(
      file: places.configurationFile, environment: Places.processEnvironment)
    return (places, loaded.settings)
  }
}

extension HTTPRequest {
  /// As the settings say, to an address that the user has given: it may be on any network.
  init(url: String, _ settings: Settings) {
    self.init(url: url)
    allowsPrivateHosts = true
    userAgent = settings.effectiveUserAgent
    proxy = settings.proxy
    certificateAuthorities = settings.certificateAuthorities
    connectTimeout = settings.connectTimeout
  }
}
