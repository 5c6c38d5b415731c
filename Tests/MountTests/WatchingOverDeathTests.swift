import Glibc
import PosixKit
import TestSupport
import Testing

/// Who watches a folder hears of what came and went around a death of the process that serves it.
@Suite struct WatchingOverDeathTests {
  /// Two mounts of a subscription, and a watcher of what is in the first.
  private func watched() throws -> (MountFixture, watcher: RunningProcess, other: String) {
    let fixture = try MountFixture(size: 1000)
    fixture.publish(count: 2)
    let second = fixture.root + "2"
    mkdir(second, 0o755)
    for mount in [fixture.root, second] { try fixture.mount(at: mount) }
    #expect(try fixture.run("subscribe", fixture.origin.url("/feed.xml")).end == .exit(0))
    let folder = "/Subscriptions/\(MountFixture.podcast)"
    for mount in [fixture.root, second] { #expect(try fixture.list(mount + folder).count == 2) }
    let folders = ["Subscriptions", "Latest", "Downloading", "Downloaded"].map { "\(fixture.root)/\($0)" }
    let watcher = try RunningProcess(
      "inotifywait", ["--monitor", "--format", "%e %f"] + folders + [fixture.root + folder],
      environment: fixture.environment.variables)
    #expect(eventually { watcher.errors.contains("Watches established") }, "\(watcher.errors)")
    return (fixture, watcher, second)
  }

  /// What happens while the process is stopped, before it is killed.
  enum Change: CaseIterable {
    case refresh, removal, end, subscription, download, order
  }

  private func make(_ change: Change, _ fixture: MountFixture, _ other: String) throws {
    let folder = "\(other)/Subscriptions/\(MountFixture.podcast)"
    switch change {
    case .refresh:
      fixture.publish(count: 3)
      #expect(try fixture.run("refresh", folder).end == .exit(0))
    case .removal: #expect(unlink("\(folder)/\(MountFixture.names[0])") == 0)
    case .end: #expect(try fixture.run("unsubscribe", MountFixture.podcast).end == .exit(0))
    case .subscription:
      fixture.origin.serve(
        "/other.xml", OriginResource(TestFeed("Other").xml, mediaType: "application/rss+xml"))
      #expect(try fixture.run("subscribe", fixture.origin.url("/other.xml")).end == .exit(0))
    case .download: #expect(try fixture.run("get", "\(folder)/\(MountFixture.names[0])").end == .exit(0))
    case .order: try fixture.set("state", "paused", "\(folder)/\(MountFixture.names[0])")
    }
  }

  private func expected(_ change: Change) -> [String] {
    let names = MountFixture.names
    let inViews = names.map { $0.replacing(" - ", with: " - \(MountFixture.podcast) - ") }
    return switch change {
    case .refresh: ["CREATE \(names[2])", "CREATE \(inViews[2])"]
    case .removal: ["DELETE \(names[0])", "DELETE \(inViews[0])"]
    case .end:
      names[..<2].map { "DELETE \($0)" } + inViews[..<2].map { "DELETE \($0)" }
        + ["DELETE,ISDIR \(MountFixture.podcast)"]
    case .subscription: ["CREATE,ISDIR Other"]
    case .download: ["CREATE,ISDIR \(MountFixture.podcast)"]
    case .order: ["CREATE \(inViews[0])"]
    }
  }

  private func told(_ watcher: RunningProcess) -> [String] {
    watcher.output.split(separator: "\n").map(String.init).filter {
      $0.hasPrefix("CREATE") || $0.hasPrefix("DELETE,") || $0.hasPrefix("DELETE ")
    }
  }

  @Test(arguments: Change.allCases) func whatAStoppedProcessNeverSawIsToldByTheNext(_ change: Change) throws {
    let (fixture, watcher, other) = try watched()
    let process = try #require(fixture.mountProcess)
    kill(process, SIGSTOP)
    try make(change, fixture, other)
    kill(process, SIGKILL)
    let expected = expected(change)
    #expect(eventually { Set(told(watcher)).isSuperset(of: expected) }, "\(told(watcher))")
    // A change later than all of that.
    if change == .subscription { return }
    try make(.subscription, fixture, other)
    #expect(eventually { told(watcher).contains("CREATE,ISDIR Other") }, "\(told(watcher))")
    let once = told(watcher).filter { $0 != "CREATE,ISDIR Other" }
    #expect(once.sorted() == expected.sorted(), "each is told once")
  }

  /// It is told a moment later, if the process lives so long.
  @Test(arguments: [false, true]) func whatWasStillToBeToldIsToldByTheNext(_ handsOver: Bool) throws {
    let (fixture, watcher, other) = try watched()
    for change in [Change.order, .removal, .subscription] {
      let process = try #require(fixture.mountProcess)
      try make(change, fixture, other)
      if handsOver {
        #expect(try fixture.run("restart", fixture.root).end == .exit(0))
      } else {
        kill(process, SIGKILL)
        #expect(eventually { fixture.mountProcess.map { $0 != process } ?? false })
      }
      let expected = expected(change)
      #expect(eventually { Set(told(watcher)).isSuperset(of: expected) }, "\(told(watcher))")
    }
  }

  @Test func aRenameThatAStoppedProcessNeverSawIsToldAsSuch() throws {
    let (fixture, watcher, other) = try watched()
    let process = try #require(fixture.mountProcess)
    kill(process, SIGSTOP)
    let folder = "\(other)/Subscriptions/"
    #expect(rename(folder + MountFixture.podcast, folder + "Lights") == 0)
    kill(process, SIGKILL)
    #expect(eventually { watcher.output.contains("MOVED_TO,ISDIR Lights") }, "\(watcher.output)")
    #expect(watcher.output.contains("MOVED_FROM,ISDIR \(MountFixture.podcast)"))
    #expect(told(watcher).isEmpty)
  }
}
