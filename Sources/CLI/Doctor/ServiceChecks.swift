internal import Catalog
package import Configuration
internal import Directory
internal import FeedKit
internal import Glibc
internal import HTTPKit
internal import PodcastModel
internal import PosixKit
internal import Sync

/// Whether the offline directory can be read, synchronization works, and the search service answers.
package enum ServiceChecks {
  /// Searches go on without a damaged directory, or one that is not installed.
  static func directory(_ places: Places, _ settings: Settings) -> [Finding] {
    let directory = PodcastDirectory(place: DirectoryPlace(settings, places))
    guard directory.isInstalled else { return [] }
    do throws(DirectoryError) {
      return [.fine("the offline directory has \(DirectoryCommand.installed(try directory.facts()))")]
    } catch {
      return [.problem("the offline directory: \(error.message)", fix: "podcastfs directory fetch")]
    }
  }

  /// Where it is configured. The server is not asked: the last synchronization tells.
  static func synchronization(_ places: Places, _ settings: Settings) -> [Finding] {
    guard let sync = settings.sync else { return [] }
    let host = WebAddress(sync.url).host ?? sync.url
    guard sync.user != nil, sync.password != nil || sync.passwordCommand != nil else {
      return [
        .problem(
          "the section of \(host) has no user or no password",
          fix: "add user and password to it, or run podcastfs sync login \(sync.url)")
      ]
    }
    var (findings, file, status) = ([last(places, settings, sync, host)], places.configurationFile, stat())
    if sync.password != nil, stat(file, &status) == 0, status.st_mode & 0o077 != 0 {
      findings.append(.problem("other users can read the password in \(file)", fix: "chmod 600 \(file)"))
    }
    return findings
  }

  private static func last(
    _ places: Places, _ settings: Settings, _ sync: SyncSettings, _ host: String
  ) -> Finding {
    do {
      let http = HTTPClient(name: "command-http")
      defer { http.stop() }
      let catalog = try Catalog(places: places, settings: settings, http: http, feedReader: .program())
      defer { catalog.close() }
      guard let status = try SyncStatus(catalog, sync), status.last != nil || status.error != nil else {
        return .note("not synchronized with \(host) yet: run podcastfs sync")
      }
      let last = status.last.map { CivilTime.iso8601($0) } ?? "never"
      return .check(
        status.error == nil,
        "synchronized with \(host) at \(last), \(HumanText.count(status.pending, "change")) to upload",
        or: "synchronization: \(status.error ?? "")",
        fix: "correct the [sync] section, then run podcastfs sync")
    } catch {
      return .problem("synchronization: \(error)", fix: "see the other lines of podcastfs doctor")
    }
  }

  package static func search(_ settings: Settings) -> Finding {
    let address = settings.searchURL ?? Settings.appleSearchURL
    var request = HTTPRequest(
      url: address + (address.contains("?") ? "&" : "?") + "term=podcast&media=podcast&limit=1", settings)
    request.allowsPrivateHosts = true
    request.connectTimeout = min(settings.connectTimeout, 10)
    request.totalTimeout = 15
    request.maximumBody = 1 << 20
    let host = WebAddress(address).host ?? address
    let service = "the search service at \(host)"
    let fix = "check the network (and http_proxy), or set search_url to a service that can be reached"
    switch Waiting.answer(to: request, within: 20) {
    case .success(let response) where response.head.status == 200:
      return .check(
        (try? AppleAnswer(response.body)) != nil, "\(service) answers",
        or: "the answer of \(host) is not a list of podcasts",
        fix: "set search_url to a service with Apple's format")
    case .success(let response) where response.head.status == 403 || response.head.status == 429:
      return .note("\(service) asks to wait (HTTP \(response.head.status))")
    case .success(let response):
      return .problem("\(service) answers with HTTP \(response.head.status)", fix: fix)
    case .failure(let error): return .problem("the search service: \(error)", fix: fix)
    case nil: return .problem("\(service) does not answer", fix: fix)
    }
  }
}
