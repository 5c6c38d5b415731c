import Configuration
import Glibc
import PosixKit
import TestSupport
import Testing

/// One living mount: nothing may grow. Short runs here; long ones by PODCASTFS_SOAK_STEPS, PODCASTFS_SOAK_CHANGES and
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

  private static func number(_ variable: String) -> Int? {
    Places.processEnvironment[variable].flatMap { Int($0) }
  }
  private static var seed: UInt64 { UInt64(number("PODCASTFS_MODEL_SEED") ?? 1) }

  /// Does a step again and again, and compares what the process is at the end with what it was when a fifth was done.
  /// - Parameter rest: ends what the steps have left open.
  private func soak(
    _ name: String, steps: Int, process: Int32, step: () throws -> Bool, rest: () throws -> Void
  ) throws {
    var first: Size?
    for number in 0..<steps {
      guard try step() else { return }
      if number == steps / 5 { first = try Size(process) }
      if number % 1000 == 999 { print("\(name): \(number + 1) steps, \(try Size(process))") }
    }
    try rest()
    let start = try #require(first)
    let end = try Size(process)
    print("\(name): \(steps) steps, \(start) -> \(end)")
    #expect(end.memory - start.memory < 8192, "\(start) \(end)")
    // Threads of the queues that had something to do lately are among them.
    #expect(end.threads <= Self.mostThreads, "\(start) \(end)")
    #expect(end.descriptors <= start.descriptors + 16, "\(start) \(end)")
  }

  /// Of a mount with all its queues at work.
  private static let mostThreads = 48

  @Test func aMountThatLivesLongDoesNotGrow() throws {
    let model = try MountModel(seed: Self.seed, isOneLife: true)
    let process = try #require(model.mountProcess)
    try soak("soak", steps: Self.number("PODCASTFS_SOAK_STEPS") ?? 300, process: process) {
      try model.step()
      return model.failures.isEmpty
    } rest: {
      try model.rest()
    }
    #expect(
      model.failures.isEmpty,
      "seed \(Self.seed)\n\(model.failures)\n\(model.log.suffix(60).joined(separator: "\n"))")
    #expect(model.mountProcess == process)
  }

  /// Marks, orders, files of another size, new episodes, searches and subscriptions made and removed: as fast as they go.
  @Test func changesOfAnyKindLeaveNothingBehind() throws {
    let model = try ChangingModel(seed: Self.seed)
    let process = try #require(model.fixture.mountProcess)
    try soak("changes", steps: Self.number("PODCASTFS_SOAK_CHANGES") ?? 300, process: process) {
      try model.change()
      return true
    } rest: {
      try model.rest()
    }
    #expect(model.fixture.mountProcess == process)
    print(
      "changes: \(model.counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", "))"
    )
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
