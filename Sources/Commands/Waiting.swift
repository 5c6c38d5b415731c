internal import Configuration
internal import HTTPKit
internal import PosixKit

/// Plain calls of what ends in a completion.
enum Waiting {
  /// Starts something, and waits for its end.
  /// - Returns: nil where it has not ended within so many seconds; it is given up then.
  static func result<Value: Sendable>(
    within seconds: Double, _ start: (@escaping @Sendable (Value) -> Void) -> any Cancellable
  ) -> Value? {
    let outcome = Monitor<Value?>(nil)
    let task = start { value in outcome.withLockNotifying { $0 = .some(value) } }
    let value = outcome.wait(until: .after(seconds)) { $0 }
    if value == nil { task.cancel() }
    return value
  }

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
