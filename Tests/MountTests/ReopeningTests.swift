import CTestLinux
import Glibc
import PosixKit
import TestSupport
import Testing

/// Who opens again by a descriptor or handle can't look a name up once more: portals, Samba, NFS.
@Suite struct ReopeningTests {
  /// All that a descriptor gives, and what fstat(2) says of it.
  private func contents(_ file: Int32) -> (bytes: [UInt8], size: Int64) {
    var status = stat()
    fstat(file, &status)
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = Glibc.read(file, &buffer, buffer.count)
      if count <= 0 { break }
      bytes += buffer[..<count]
    }
    return (bytes, Int64(status.st_size))
  }

  private func reopened(_ path: Int32) throws -> (bytes: [UInt8], size: Int64) {
    let file = open("/proc/self/fd/\(path)", O_RDONLY | O_CLOEXEC)
    try #require(file >= 0, "\(Errno.current)")
    defer { close(file) }
    return contents(file)
  }

  /// - Parameter length: as the feed has it; the episodes have 300,000 bytes.
  @Test(arguments: [90_000, 300_000, 4_000_000]) func aPathDescriptorOpensAtTheFirstTry(_ length: Int64)
    throws
  {
    let fixture = try MountFixture(size: 300_000)
    fixture.publish(count: 3) { feed, _ in
      for index in feed.items.indices { feed.items[index].length = length }
    }
    try fixture.mount()
    try fixture.makeSearch()
    _ = try fixture.list(fixture.podcastPath)
    for number in 1...3 {
      let path = test_open_path(fixture.episode(number))
      defer { close(path) }
      let found = try reopened(path)
      #expect(found.bytes == fixture.bodies[number - 1].bytes)
      #expect(found.size == 300_000)
      // Dropped, it is fetched again for who has nothing but the descriptor.
      try fixture.set("state", "remote", fixture.episode(number))
      let again = try reopened(path)
      #expect(again.bytes == found.bytes && again.size == 300_000)
      #expect(try fixture.isWhole(fixture.episode(number), number))
    }
    #expect(fixture.log.contains("mounted on") && !fixture.log.contains("another file"))
  }

  /// The host tells no length: the size is known when the end has come.
  @Test(arguments: [90_000, 300_000, 4_000_000]) func aPathDescriptorGivesAWholeBodyWithoutALength(
    _ length: Int64
  ) throws {
    let fixture = try MountFixture(size: 300_000)
    fixture.publish(count: 3) { feed, _ in
      for index in feed.items.indices { feed.items[index].length = length }
    }
    for number in 1...3 { fixture.origin.change("/\(number).mp3") { $0.behaviour.omitsLength = true } }
    try fixture.mount()
    try fixture.makeSearch()
    _ = try fixture.list(fixture.podcastPath)
    for number in 1...3 {
      let path = test_open_path(fixture.episode(number))
      defer { close(path) }
      for _ in 0..<2 {
        let found = try reopened(path)
        #expect(found.bytes == fixture.bodies[number - 1].bytes)
        let whole = try reopened(path)
        #expect(whole.bytes == found.bytes && whole.size == 300_000)
        #expect(try fixture.isWhole(fixture.episode(number), number))
        try fixture.set("state", "remote", fixture.episode(number))
      }
    }
    #expect(!fixture.log.contains("another file"))
  }

  @Test func aDropAndANewDownloadOfTheSameFileAreOneNode() throws {
    let fixture = try MountFixture(size: 300_000)
    try fixture.mount()
    try fixture.makeSearch()
    #expect(try fixture.isWhole(fixture.episode(1), 1))
    let path = test_open_path(fixture.episode(1))
    defer { close(path) }
    for _ in 0..<3 {
      try fixture.set("state", "remote", fixture.episode(1))
      #expect(try fixture.isWhole(fixture.episode(1), 1))
      let found = try reopened(path)
      #expect(found.bytes == fixture.bodies[0].bytes && found.size == 300_000)
    }
  }

  @Test(.enabled(if: geteuid() == 0, "open_by_handle_at(2) is for root")) func aHandleIsGoodAfterARemount()
    throws
  {
    let fixture = try MountFixture(size: 300_000)
    fixture.publish(count: 3) { feed, _ in feed.items[1].length = 70_000 }
    try fixture.mount()
    try fixture.makeSearch()
    _ = try fixture.list(fixture.podcastPath)
    let paths = [fixture.episode(1), fixture.episode(2), fixture.podcastPath, fixture.root + "/Search"]
    let handles = try paths.map { path -> (type: Int32, bytes: [UInt8]) in
      var bytes = [UInt8](repeating: 0, count: 128)
      var type: Int32 = 0
      let length = test_handle_of(path, &type, &bytes)
      try #require(length > 0, "\(path): \(Errno.current)")
      return (type, Array(bytes[..<Int(length)]))
    }
    try fixture.unmount()
    try fixture.mount()
    for (index, handle) in handles.enumerated() {
      let file = test_open_by_handle(fixture.root, handle.type, handle.bytes, Int32(handle.bytes.count))
      try #require(file >= 0, "\(paths[index]): \(Errno.current)")
      defer { close(file) }
      if index < 2 {
        let found = contents(file)
        #expect(found.bytes == fixture.bodies[index].bytes && found.size == 300_000)
      } else {
        #expect(try fixture.list("/proc/self/fd/\(file)") == fixture.list(paths[index]))
      }
    }
  }
}
