import Glibc
import PosixKit
import TestSupport
import Testing

/// Readers of episodes that turn out shorter than the estimate.
@Suite struct ExactSizeTests {
  @Test func noReaderGetsZerosBehindTheTrueEnd() throws {
    let fixture = try MountFixture()
    let bodies = (0..<60).map { TestBody(seed: UInt64($0 + 100), size: 70_000) }
    for (i, body) in bodies.enumerated() { fixture.origin.serve("/r\(i).mp3", OriginResource(body)) }
    fixture.publish(count: 3) { feed, origin in
      feed.items = bodies.indices.map { i in
        TestFeed.Item("R \(100 + i)", url: origin.url("/r\(i).mp3"), guid: "r\(i)", published: 1_704_067_200)
      }
    }
    try fixture.mount()
    try fixture.makeSearch()
    var bad: [String] = []
    for (i, name) in try fixture.list(fixture.podcastPath).enumerated() {
      let bytes = try Directories.read("\(fixture.podcastPath)/\(name)", limit: 64 << 20)
      if bytes != bodies[i].bytes { bad.append("\(name): \(bytes.count)") }
    }
    #expect(bad.isEmpty, "\(bad.count): \(bad.prefix(5))")
  }

  private func read(_ file: Int32, _ offset: Int64, _ count: Int) -> Result<[UInt8], Errno> {
    var bytes = [UInt8](repeating: 0, count: count)
    let done = pread(file, &bytes, count, off_t(offset))
    return done < 0 ? .failure(Errno.current) : .success(Array(bytes.prefix(done)))
  }

  @Test(arguments: [500_000, 3_000_000, 5_000_000] as [Int64])
  func whoHasAnOlderFileOpenKeepsItsSize(_ newSize: Int64) throws {
    let fixture = try MountFixture(size: 3_000_000, rate: 2_000_000)
    try fixture.mount()
    try fixture.makeSearch()
    let path = fixture.episode(1)
    let old = try FileDescriptor(opening: path, O_RDONLY)
    #expect(try read(old.rawValue, 0, 900_000).get() == fixture.bodies[0].bytes(0..<900_000))
    // Another file comes, and the response of the old one is cut.
    let new = TestBody(seed: 77, size: newSize)
    kill(try #require(fixture.daemon), SIGKILL)
    fixture.origin.serve("/1.mp3", OriginResource(new))
    #expect(try Directories.read(path, limit: 16 << 20) == new.bytes)

    #expect(try fixture.status(path).st_size == newSize)
    for _ in 0..<2 {
      #expect(try old.status().st_size == 3_000_000)
      #expect(lseek(old.rawValue, 0, SEEK_END) == 3_000_000)
      posix_fadvise(old.rawValue, 0, 0, POSIX_FADV_DONTNEED)
      #expect(try read(old.rawValue, 800_000, 50_000).get() == fixture.bodies[0].bytes(800_000..<850_000))
      #expect(read(old.rawValue, 2_990_000, 10_000) == .failure(.ESTALE))
    }
  }

  @Test func whoHasADroppedFileOpenSeesNothingBehindItsEnd() throws {
    let fixture = try MountFixture(size: 280_207)
    // The feed says more.
    fixture.publish(count: 3) { feed, _ in feed.items[0].length = 400_000 }
    try fixture.mount()
    try fixture.makeSearch()
    let path = fixture.episode(1)
    let old = try FileDescriptor(opening: path, O_RDONLY)
    #expect(try read(old.rawValue, 0, 280_000).get() == fixture.bodies[0].bytes(0..<280_000))
    #expect(try eventually { try fixture.attribute("state", path) == "cached" })
    try fixture.set("state", "remote", path)
    #expect(try old.status().st_size == 280_207)
    #expect(try read(old.rawValue, 280_000, 65_536).get() == fixture.bodies[0].bytes(280_000..<280_207))
    #expect(try read(old.rawValue, 280_207, 65_536).get() == [])
    // What was exact stays known.
    #expect(try fixture.status(path).st_size == 280_207)
    #expect(try fixture.attribute("size_source", path) == "exact")
    #expect(try fixture.isWhole(path, 1))
  }

  @Test(arguments: [100_000, 5_000_000] as [Int64])
  func withoutALengthNothingIsCutOffInSilence(_ feedLength: Int64) throws {
    let fixture = try MountFixture(size: 900_000)
    fixture.publish(count: 3) { feed, _ in
      for index in feed.items.indices { feed.items[index].length = feedLength }
    }
    for number in 1...3 {
      fixture.origin.change("/\(number).mp3") {
        $0.behaviour.omitsLength = true
        $0.behaviour.rate = number == 2 ? 400_000 : 3_000_000
      }
    }
    try fixture.mount()
    try fixture.makeSearch()
    _ = try fixture.list(fixture.podcastPath)
    // A program that packs as much as it was told is told the true size, when the end has come.
    let archive = fixture.environment.home.path("archive.tar")
    let name = MountFixture.names[0]
    let tar = try RunningProcess(
      "tar", ["-cf", archive, "-C", fixture.podcastPath, name], environment: fixture.environment.variables)
    #expect(tar.wait() == .exit(0) && tar.errors.isEmpty, "\(tar.errors)")
    // One that nobody knows says that something is wrong.
    let packer = fixture.environment.home.path("packer")
    try retrying("link", packer) { symlink("/bin/tar", packer) }
    let unknown = try RunningProcess(
      packer, ["-cf", archive, "-C", fixture.podcastPath, MountFixture.names[1]],
      environment: fixture.environment.variables)
    #expect(unknown.wait() == .exit(1) && unknown.errors.contains("shrank"), "\(unknown.errors)")
    #expect(try fixture.isWhole(fixture.episode(2), 2))
    let copy = fixture.environment.home.path("copy.mp3")
    let cp = try RunningProcess("cp", [fixture.episode(3), copy], environment: fixture.environment.variables)
    #expect(cp.wait() == .exit(0))
    #expect(try Directories.read(copy, limit: 1 << 20) == fixture.bodies[2].bytes)

    for name in MountFixture.names[1...] {
      let file = "\(fixture.podcastPath)/\(name)"
      fixture.origin.change("/\(name.contains("2.mp3") ? 2 : 3).mp3") {
        $0.behaviour.stallAfter = 500_000
        // By its old one the size would be known.
        $0.etag = "\"another\""
      }
      try fixture.set("state", "remote", file)
      // What only the shown size promises is not waited for.
      let tail = try RunningProcess(
        "tail", ["-c", "1000", file], environment: fixture.environment.variables)
      #expect(tail.wait() == .exit(1) && tail.output.isEmpty, "\(name): \(tail.errors)")
    }

    // At the end it is known.
    #expect(try eventually { try fixture.attribute("state", fixture.episode(1)) == "cached" })
    #expect(try fixture.status(fixture.episode(1)).st_size == 900_000)
    let again = try RunningProcess(
      "tar", ["-cf", archive, "-C", fixture.podcastPath, name], environment: fixture.environment.variables)
    #expect(again.wait() == .exit(0))
    #expect(try fixture.isWhole(fixture.episode(1), 1))
  }

  @Test(arguments: ["read", "never"]) func whoReadsBehindTheTrueEndGetsTheEnd(_ trigger: String) throws {
    let fixture = try MountFixture(size: 900_000)
    fixture.publish(count: 1) { feed, _ in feed.items[0].length = 1_500_000 }
    try fixture.mount(options: "min_free=0,trigger=\(trigger)")
    try fixture.makeSearch()
    let file = try FileDescriptor(opening: fixture.episode(1), O_RDONLY)
    #expect(try file.status().st_size == 1_500_000)
    #expect(read(file.rawValue, 1_499_000, 4096) == .success([]))
    #expect(try read(file.rawValue, 899_000, 4096).get() == fixture.bodies[0].bytes(899_000..<900_000))
    #expect(read(file.rawValue, 900_001, 4096) == .success([]))
    if trigger == "never" { #expect(fixture.origin.sent("/1.mp3") < 100_000) }
  }

  @Test func whatIsHereOfABodyWithoutALengthIsReadThoughTheRestDoesNotCome() throws {
    let fixture = try MountFixture(size: 900_000)
    fixture.publish(count: 1)
    fixture.origin.change("/1.mp3") { ($0.behaviour.omitsLength, $0.behaviour.stallAfter) = (true, 500_000) }
    try fixture.mount(options: "min_free=0,read_timeout=1")
    try fixture.makeSearch()
    let file = try FileDescriptor(opening: fixture.episode(1), O_RDONLY)
    let bytes = try read(file.rawValue, 0, 1 << 20).get()
    // Whole blocks.
    #expect(bytes.count == 499_712 && bytes == fixture.bodies[0].bytes(0..<499_712))
    #expect(read(file.rawValue, 499_712, 4096) == .failure(.EIO))
  }

  @Test(arguments: [20_000, nil] as [Int64?]) func aShortBodyWithoutALengthIsNotCutOff(_ told: Int64?) throws
  {
    let fixture = try MountFixture()
    let bodies = (0..<60).map { TestBody(seed: UInt64($0 + 100), size: 70_000) }
    for (i, body) in bodies.enumerated() {
      var resource = OriginResource(body)
      resource.behaviour.omitsLength = true
      fixture.origin.serve("/r\(i).mp3", resource)
    }
    fixture.publish(count: 3) { feed, origin in
      feed.items = bodies.indices.map { i in
        TestFeed.Item(
          "R \(100 + i)", url: origin.url("/r\(i).mp3"), guid: "r\(i)", published: 1_704_067_200, length: told
        )
      }
    }
    try fixture.mount()
    try fixture.makeSearch()
    var bad: [String] = []
    for (i, name) in try fixture.list(fixture.podcastPath).enumerated() {
      let file = try FileDescriptor(opening: "\(fixture.podcastPath)/\(name)", O_RDONLY)
      let told = try file.status().st_size
      var bytes: [UInt8] = []
      while true {
        var piece = [UInt8](repeating: 0, count: 131_072)
        let count = Glibc.read(file.rawValue, &piece, piece.count)
        if count < 0 { bad.append("\(name): \(Errno.current)") }
        if count <= 0 { break }
        bytes += piece.prefix(count)
      }
      if bytes != bodies[i].bytes { bad.append("\(name): \(bytes.count) told \(told)") }
    }
    #expect(bad.isEmpty, "\(bad.count): \(bad.prefix(5))")
  }
}
