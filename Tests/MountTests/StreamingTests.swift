import Glibc
import PosixKit
import TestSupport
import Testing

@Suite struct StreamingTests {
  @Test func anOpenedEpisodeStreamsAndIsThenHere() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    try fixture.makeSearch()
    #expect(try fixture.isWhole(fixture.episode(1), 1))
    #expect(try eventually { try fixture.attribute("state", fixture.episode(1)) == "cached" })
    #expect(try fixture.attribute("progress", fixture.episode(1)) == "100.0")
    #expect(
      try eventually {
        try fixture.list("\(fixture.root)/Downloaded/Harbour Lights") == [MountFixture.names[0]]
      })
    #expect(try fixture.status(fixture.episode(1)).st_blocks * 512 >= 300_000)
    #expect(try fixture.isWhole("\(fixture.root)/Downloaded/Harbour Lights/\(MountFixture.names[0])", 1))
    #expect(fixture.origin.requests("/1.mp3").count == 1)
  }

  @Test func aReadFarAheadDoesNotWaitForAllBeforeIt() throws {
    let fixture = try MountFixture(size: 8_000_000, rate: 20_000)
    try fixture.mount()
    try fixture.makeSearch()
    let file = try FileDescriptor(opening: fixture.episode(1), O_RDONLY)
    #expect(try file.status().st_size == 8_000_000)
    var bytes = [UInt8](repeating: 0, count: 1000)
    let start = MonotonicTime.now
    let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 7_000_000) }
    #expect(count == 1000 && fixture.bodies[0].firstDifference(bytes, at: 7_000_000) == nil)
    // All before it would take six minutes.
    #expect(MonotonicTime.now.seconds(since: start) < 200)
  }

  @Test func progressMovesWhileADownloadRunsAndItGoesOnAfterTheReaderAndTheMount() throws {
    let fixture = try MountFixture(size: 1_500_000, rate: 500_000)
    try fixture.mount()
    try fixture.makeSearch()
    let episode = fixture.episode(1)
    _ = try Directories.read(episode, limit: 1000)
    #expect(try eventually { try fixture.attribute("state", episode) == "downloading" })
    let first = try #require(try fixture.attribute("bytes_received", episode).flatMap { Int($0) })
    #expect(
      try eventually {
        let next = try fixture.attribute("bytes_received", episode).flatMap { Int($0) } ?? 0
        return next > first && next < 1_500_000
      })
    #expect(
      try fixture.list(fixture.root + "/Downloading") == [
        "2024-01-01 - Harbour Lights - Part 1.mp3", "Failed", "Paused",
      ])
    #expect(try fixture.attribute("active", fixture.root) == "1")
    try fixture.unmount()
    #expect(fixture.origin.wait { $0.last?.sent ?? 0 >= 1_500_000 })
    try fixture.mount()
    #expect(try eventually { try fixture.attribute("state", episode) == "cached" })
    #expect(try fixture.isWhole(episode, 1))
    #expect(fixture.origin.requests("/1.mp3").count == 1)
  }

  @Test func twoReadersAndTwoMountsAreOneDownload() throws {
    let fixture = try MountFixture(size: 600_000, rate: 600_000)
    let second = fixture.root + "2"
    mkdir(second, 0o755)
    try fixture.mount()
    try fixture.mount(at: second)
    try fixture.makeSearch()
    #expect(try eventually { try fixture.list(second + "/Search").count == 1 })
    let other = fixture.episode(1).replacing(fixture.root, with: second)
    let environment = fixture.environment.variables
    let readers = try [fixture.episode(1), fixture.episode(1), other].map {
      try RunningProcess("md5sum", [$0], environment: environment)
    }
    for reader in readers { #expect(reader.wait() == .exit(0), "\(reader.errors)") }
    #expect(Set(readers.map { $0.output.prefix(32) }).count == 1)
    #expect(fixture.origin.requests("/1.mp3").count == 1)
    try fixture.run("unmount", second)
  }

  @Test func pausingKeepsTheBytesAndDroppingFreesThem() throws {
    let fixture = try MountFixture(size: 2_000_000, rate: 400_000)
    try fixture.mount()
    try fixture.makeSearch()
    let episode = fixture.episode(1)
    try fixture.set("state", "downloading", episode)
    #expect(
      try eventually { try fixture.attribute("bytes_received", episode).flatMap { Int($0) } ?? 0 > 100_000 })
    try fixture.set("state", "paused", episode)
    #expect(try fixture.attribute("state", episode) == "paused")
    #expect(fixture.origin.waitUntilIdle())
    #expect(try fixture.attribute("bytes_received", episode).flatMap { Int($0) } ?? 0 > 100_000)
    fixture.origin.change("/1.mp3") { $0.behaviour.rate = nil }
    try fixture.set("state", "downloading", episode)
    #expect(try eventually { try fixture.attribute("state", episode) == "cached" })
    #expect(try fixture.isWhole(episode, 1))
    #expect(fixture.origin.sent("/1.mp3") < 2_400_000)
    try fixture.set("state", "remote", episode)
    #expect(try fixture.attribute("bytes_received", episode) == "0")
    #expect(try eventually { try fixture.list(fixture.root + "/Downloaded") == [] })
  }

  @Test func aFileThatIsNotThereFailsTheReaderAndSaysWhy() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    try fixture.makeSearch()
    _ = try fixture.list(fixture.podcastPath)
    fixture.origin.change("/2.mp3") { $0.behaviour.status = 404 }
    #expect(throws: PosixError(.EIO, "open", fixture.episode(2))) { try Directories.read(fixture.episode(2)) }
    #expect(try fixture.attribute("state", fixture.episode(2)) == "failed")
    #expect(try fixture.attribute("error", fixture.episode(2))?.contains("404") == true)
    #expect(try fixture.isWhole(fixture.episode(1), 1))
  }

  @Test func deadLinksDoNotHaveTheirFeedFetchedEachTime() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    try fixture.makeSearch()
    _ = try fixture.list(fixture.podcastPath)
    for number in 1...3 { fixture.origin.change("/\(number).mp3") { $0.behaviour.status = 404 } }
    for number in 1...3 {
      #expect(throws: PosixError(.EIO, "open", fixture.episode(number))) {
        try Directories.read(fixture.episode(number))
      }
    }
    // For the listing, and for the first of them.
    #expect(fixture.origin.requests("/feed.xml").count == 2)
  }

  @Test func anExpiredAddressIsRenewedFromTheFeed() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    try fixture.makeSearch()
    _ = try fixture.list(fixture.podcastPath)
    // The feed has a fresh token by now, and the old address is refused.
    fixture.origin.change("/1.mp3") { $0.behaviour.requiredQuery = "token=2" }
    fixture.publish(count: 3, query: "?token=2")
    #expect(try fixture.isWhole(fixture.episode(1), 1))
    #expect(fixture.origin.requests("/1.mp3").last?.target.contains("token=2") == true)
  }
}
