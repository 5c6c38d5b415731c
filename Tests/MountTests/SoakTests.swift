import Configuration
import Glibc
import PosixKit
import TestSupport
import Testing

/// Random operations on one living mount: nothing may grow. A short run here; a long one by PODCASTFS_SOAK_STEPS and
/// PODCASTFS_MODEL_SEED (Documentation/Contributing.md).
@Suite struct SoakTests {
  private struct Size {
    /// In KiB, of the process alone.
    let memory: Int
    let threads: Int
    let descriptors: Int

    init(_ process: Int32) throws {
      func number(_ file: String, _ label: String) throws -> Int {
        let text = String(decoding: try Directories.read("/proc/\(process)/\(file)"), as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix(label) } ?? ""
        return Int(line.filter(\.isNumber)) ?? 0
      }
      memory = try number("smaps_rollup", "Private_Dirty:")
      threads = try number("status", "Threads:")
      descriptors = try Directories.names(in: "/proc/\(process)/fd").count
    }
  }

  @Test func aMountThatLivesLongDoesNotGrow() throws {
    let environment = Places.processEnvironment
    let steps = environment["PODCASTFS_SOAK_STEPS"].flatMap { Int($0) } ?? 300
    let seed = environment["PODCASTFS_MODEL_SEED"].flatMap { UInt64($0) } ?? 1
    let model = try MountModel(seed: seed, isOneLife: true)
    let process = try #require(model.mountProcess)
    var first: Size?
    for step in 0..<steps where model.failures.isEmpty {
      try model.step()
      if step == steps / 5 { first = try Size(process) }
      if step % 1000 == 999 { print("soak: \(step + 1) steps, \(try Size(process))") }
    }
    #expect(
      model.failures.isEmpty,
      "seed \(seed)\n\(model.failures)\n\(model.log.suffix(60).joined(separator: "\n"))")
    #expect(model.mountProcess == process)
    let start = try #require(first)
    let end = try Size(process)
    #expect(end.memory - start.memory < 8192, "\(start) \(end)")
    #expect(end.threads <= start.threads + 3, "\(start) \(end)")
    #expect(end.descriptors <= start.descriptors + 16, "\(start) \(end)")
  }

  /// A heap of its own for each thread would keep what that thread has once needed.
  @Test func threadsShareTheirHeaps() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    try fixture.makeSearch()
    #expect(try fixture.list(fixture.podcastPath).count == 3)
    let process = try #require(fixture.mountProcess)
    let maps = String(decoding: try Directories.read("/proc/\(process)/maps"), as: UTF8.self)
    // glibc puts all but the first at multiples of 64 MiB.
    let heaps = maps.split(separator: "\n").filter { line in
      let fields = line.split(separator: " ")
      guard fields.count == 5, fields[1] == "rw-p", let start = fields[0].split(separator: "-").first else {
        return false
      }
      return UInt64(start, radix: 16).map { $0 % (64 << 20) == 0 } ?? false
    }
    #expect(heaps.count <= 2, "\(heaps)")
  }
}
