internal import Catalog
internal import Configuration
internal import FeedKit
internal import Glibc
internal import HTTPKit
internal import PodcastModel
internal import PosixKit
internal import Sync

/// Whether synchronization works, where it is configured. The server is not asked: the last synchronization tells.
enum SyncChecks {
  static func all(_ places: Places, _ settings: Settings) -> [Finding] {
    guard let sync = settings.sync else { return [] }
    let host = WebAddress(sync.url).host ?? sync.url
    guard sync.user != nil, sync.password != nil || sync.passwordCommand != nil else {
      return [
        .problem(
          "the section of \(host) has no user or no password",
          fix: "add user and password to it, or run podcastfs sync login \(sync.url)")
      ]
    }
    return [finding(places, settings, sync, host)] + secrecy(places, sync)
  }

  private static func finding(
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
      if let error = status.error {
        return .problem(
          "synchronization: \(error)", fix: "correct the [sync] section, then run podcastfs sync")
      }
      let last = status.last.map { CivilTime.iso8601($0) } ?? "never"
      return .fine(
        "synchronized with \(host) at \(last), \(HumanText.count(status.pending, "change")) to upload")
    } catch {
      return .problem("synchronization: \(error)", fix: "see the other lines of podcastfs doctor")
    }
  }

  private static func secrecy(_ places: Places, _ sync: SyncSettings) -> [Finding] {
    var status = stat()
    guard sync.password != nil, stat(places.configurationFile, &status) == 0, status.st_mode & 0o077 != 0
    else {
      return []
    }
    return [
      .problem(
        "other users can read the password in \(places.configurationFile)",
        fix: "chmod 600 \(places.configurationFile)")
    ]
  }
}
