import Glibc
import PosixKit
import TestSupport
import Testing

/// What the root's attributes say of all background downloads.
@Suite struct LimitTests {
  private func errno(_ body: () throws -> Void) -> Errno? {
    do { try body() } catch { return (error as? PosixError)?.errno }
    return nil
  }

  @Test func allBackgroundDownloadsRestUntilTheyMayRun() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    try fixture.makeSearch()
    _ = try fixture.list(fixture.podcastPath)
    #expect(try fixture.attribute("paused", fixture.root) == "0")
    try fixture.set("paused", "1", fixture.root)
    #expect(try fixture.attribute("paused", fixture.root) == "1")
    try fixture.set("state", "downloading", fixture.episode(1))
    #expect(
      try eventually {
        try fixture.attribute("error", fixture.episode(1)) == "all background downloads are paused"
      })
    #expect(try fixture.attribute("state", fixture.episode(1)) == "queued")
    // Who opens an episode has it.
    #expect(try fixture.isWhole(fixture.episode(2), 2))
    // The next process of the mount knows it, too.
    #expect(try fixture.run("restart", fixture.root).end == .exit(0))
    #expect(try fixture.attribute("paused", fixture.root) == "1")
    #expect(try eventually { try fixture.attribute("state", fixture.episode(1)) == "queued" })
    #expect(try fixture.run("resume", "--all").end == .exit(0))
    #expect(try fixture.attribute("paused", fixture.root) == "0")
    #expect(try eventually { try fixture.attribute("state", fixture.episode(1)) == "cached" })
  }

  @Test func theRateIsLimitedUntilTheMountIsUnmounted() throws {
    let fixture = try MountFixture(size: 400_000)
    try fixture.mount()
    try fixture.makeSearch()
    _ = try fixture.list(fixture.podcastPath)
    #expect(try fixture.run("limit").output == "no limit\n")
    #expect(try fixture.run("limit", "20K").end == .exit(0))
    #expect(try fixture.attribute("limit_rate", fixture.root) == "20480")
    #expect(try fixture.run("limit").output == "20.0 KiB/s\n")
    #expect(try fixture.run("limit", "--json").output.contains("\"limit_rate\": 20480"))
    try fixture.set("state", "downloading", fixture.episode(1))
    #expect(try eventually { Int(try fixture.attribute("rate", fixture.episode(1)) ?? "") != nil })
    #expect(try fixture.attribute("state", fixture.episode(1)) == "downloading")
    try fixture.set("limit_rate", "0", fixture.root)
    #expect(try eventually { try fixture.attribute("state", fixture.episode(1)) == "cached" })
    for (name, value) in [
      ("limit_rate", "fast"), ("limit_rate", "-1"), ("limit_rate", ""), ("paused", "yes"),
    ] {
      #expect(errno { try fixture.set(name, value, fixture.root) } == .EINVAL, "\(name)=\(value)")
    }
    #expect(errno { try fixture.set("active", "1", fixture.root) } == .EPERM)
    #expect(try fixture.run("limit", "fast").end == .exit(64))
    try fixture.set("limit_rate", "1M", fixture.root)
    try fixture.set("paused", "1", fixture.root)
    try fixture.unmount()
    #expect(try fixture.run("limit", "1M").end == .exit(1))
    try fixture.mount(options: "min_free=0,limit_rate=2M")
    #expect(try fixture.attribute("limit_rate", fixture.root) == "2097152")
    #expect(try fixture.attribute("paused", fixture.root) == "0")
  }
}
