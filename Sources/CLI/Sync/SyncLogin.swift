internal import Configuration
internal import Glibc
internal import HTTPKit
internal import PodcastModel
internal import PosixKit
internal import Sync

/// `podcastfs sync login URL`: Nextcloud's login flow, and its password into the configuration file.
enum SyncLogin {
  /// Seconds between two questions, and for the whole: so long does Nextcloud wait for its user.
  private static let (pause, patience) = (2.0, 1200.0)

  static func run(_ address: String) throws {
    let (places, settings) = try CommandSettings.load()
    guard WebAddress(address).isWeb, WebAddress(address).parts?.userinfo == nil else {
      throw UsageError("\(address) is not an address that begins with http:// or https://")
    }
    var sync = SyncSettings(url: address)
    let http = HTTPClient(name: "command-http")
    defer { http.stop() }
    let flow = try LoginFlow(
      SyncRequests(
        http: http, settings: settings, url: sync.url, user: nil, password: nil, now: { wallClockSeconds() }))
    StandardStreams.tell("Log in on this page: \(PrintableText.line(flow.page))")
    showPage(flow.page)
    let deadline = MonotonicTime.after(patience)
    var credentials: LoginFlow.Credentials?
    while credentials == nil {
      guard .now < deadline else { throw CommandFailure("nobody logged in within twenty minutes") }
      usleep(UInt32(pause * 1_000_000))
      credentials = try flow.poll()
    }
    sync.kind = .nextcloud
    sync.user = credentials?.user
    sync.password = credentials?.password
    try write(sync, to: places.configurationFile)
    StandardStreams.report("logged in; the password is in \(places.configurationFile)")
    StandardStreams.report("podcastfs sync synchronizes now; mounts do so by themselves afterwards")
  }

  /// In the browser, where there is a desktop.
  private static func showPage(_ page: String) {
    let environment = Places.processEnvironment
    guard environment["DISPLAY"] != nil || environment["WAYLAND_DISPLAY"] != nil,
      let program = ChildProcess.find("xdg-open")
    else { return }
    _ = try? ChildProcess.start(program, [page])
  }

  /// For the owner alone from then on: it holds a secret.
  private static func write(_ sync: SyncSettings, to path: String) throws {
    var file = path
    if let resolved = realpath(path, nil) {
      // A link to it stays one.
      defer { free(resolved) }
      file = String(cString: resolved)
    } else {
      try Directories.create(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
    }
    let old = Directories.exists(file) ? try Directories.read(file, limit: 1 << 20) : []
    try Directories.replace(file, with: Array(sync.written(into: String(decoding: old, as: UTF8.self)).utf8))
  }
}
