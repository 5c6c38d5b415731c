import Glibc
import PosixKit
import SQLiteKit
import TestSupport
import Testing

/// Who creates a list of subscriptions is interrupted, or dies, before it has been closed: nothing stays behind.
@Suite struct InterruptedCreationTests {
  private func mounted() throws -> MountFixture {
    let fixture = try MountFixture()
    try fixture.mount()
    #expect(try fixture.run("subscribe", fixture.origin.url("/feed.xml")).end == .exit(0))
    #expect(try fixture.list(fixture.root + "/Subscriptions") == Self.names)
    return fixture
  }
  private static let names = [MountFixture.podcast, "subscriptions.opml"]

  /// Also the name, which a list keeps for a while after its last close. One look at all: when the name goes, the mount tells
  /// watchers by a request of its own, which counts as under way for a moment.
  private func expectNothingLeft(of fixture: MountFixture) throws {
    let isOver = try eventually(within: 30) {
      try fixture.excess().isEmpty && fixture.list(fixture.root + "/Subscriptions") == Self.names
    }
    let left = try fixture.excess()
    #expect(isOver, "\(left)")
  }

  @Test func whoDiesAmidAListLeavesNothing() throws {
    let fixture = try mounted()
    for script in ["", "printf '<opml' >&3;"] {
      let writer = try fixture.shell(
        "exec 3>\"$MNT/Subscriptions/list.opml\"; \(script) echo made; kill -KILL $$")
      #expect(writer.wait() == .signal(SIGKILL), "\(writer.errors)")
      #expect(writer.output == "made\n")
    }
    try expectNothingLeft(of: fixture)
  }

  @Test func whoDiesAmidAListAfterTheMountHasDiedLeavesNothing() throws {
    let fixture = try mounted()
    let writer = try fixture.shell(
      "exec 3>\"$MNT/Subscriptions/list.opml\"; printf '<opml' >&3; echo made; exec sleep 1000")
    #expect(writer.waitForOutput { $0 == "made\n" })
    let process = try fixture.killNext(after: nil)
    #expect(eventually { fixture.mountProcess.map { $0 != process } ?? false })
    writer.signal(SIGKILL)
    #expect(writer.wait() == .signal(SIGKILL))
    try expectNothingLeft(of: fixture)
  }

  /// The creation waits for the catalogue, which another program has locked, when the signal comes.
  @Test(.enabled(if: geteuid() == 0, "only root sees what a process waits in"), arguments: [SIGINT, SIGKILL])
  func whoIsInterruptedInTheCreationLeavesNothing(signal: Int32) throws {
    let fixture = try mounted()
    let catalogue = try Database(path: fixture.environment.home.path("data/podcastfs/catalog.sqlite"))
    var marks: [RunningProcess] = []
    var writer: RunningProcess?
    try catalogue.transaction {
      marks.append(
        try fixture.shell("setfattr -n user.podcastfs.played -v 1 \"\(fixture.subscribed(1))\""))
      #expect(eventually { Self.waits(marks[0], in: "setxattr") })
      let creator = try fixture.shell("exec 3>\"$MNT/Subscriptions/list.opml\"; kill -KILL $$")
      writer = creator
      #expect(eventually { Self.waits(creator, in: "fuse_create_open") })
      creator.signal(signal)
    }
    #expect(marks[0].wait() == .exit(0), "\(marks[0].errors)")
    let end = try #require(writer).wait()
    #expect(end == .signal(signal) || end == .signal(SIGKILL))
    try expectNothingLeft(of: fixture)
  }

  /// Whether a process, or what it has started, waits in a call of the kernel.
  private static func waits(_ process: RunningProcess, in call: String) -> Bool {
    let children = (try? Directories.read("/proc/\(process.id)/task/\(process.id)/children")) ?? []
    let ids =
      [process.id] + String(decoding: children, as: UTF8.self).split(separator: " ").compactMap { Int32($0) }
    return ids.contains { id in
      let stack = (try? Directories.read("/proc/\(id)/stack")) ?? []
      return String(decoding: stack, as: UTF8.self).contains(call)
    }
  }
}
