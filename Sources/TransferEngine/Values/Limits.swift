package import PosixKit

package enum Limits {
  /// Readers see whole blocks of this size (the live map's).
  package static let block: Int64 = 4096
  package static let largestFile: Int64 = 32 << 30
  /// Writes end at multiples of this: smaller or odd ones cost the kernel twice.
  package static let alignment: Int64 = 256 << 10
  package static let largestWrite: Int64 = 1 << 20
  /// What the kernel asks for when a file's first byte is read (its read-ahead).
  package static let beginning: Int64 = 128 << 10
  /// Bytes that all responses together may hold in memory before they go to the disk.
  package static let held: Int64 = 8 << 20
  /// What one may, where there are few, and where there are many.
  package static let heldEach = (most: Int64(2 << 20), least: Int64(128 << 10))
  /// Bytes written after which they are brought to the disk: what a crash of the machine may cost.
  package static let flushAfter: Int64 = 4 << 20
  /// Hosts of which something is remembered.
  package static let hosts = 1024
  /// Rounds in which what follows from changes is looked at, before others get their turn.
  package static let rounds = 8

  /// The whole blocks that a range touches.
  package static func blocks(of range: Range<Int64>) -> Range<Int64> {
    if range.isEmpty { return range }
    return aligned(range.lowerBound, block)..<alignedUp(range.upperBound)
  }

  static func aligned(_ offset: Int64, _ step: Int64) -> Int64 { offset / step * step }
  /// The end of the block that `offset` lies in; .max where that is too large.
  static func alignedUp(_ offset: Int64) -> Int64 {
    offset > .max - block ? .max : aligned(offset + block - 1, block)
  }
}

extension Range<Int64> {
  package var length: Int64 { upperBound - lowerBound }
}

/// A point in time as the engine is told it.
package typealias Instant = MonotonicTime

package struct Moment: Hashable, Sendable {
  package var instant: Instant
  /// Nanoseconds since 1970 by the wall clock, which may be set at any time.
  package var wallNanoseconds: Int64
  /// Seconds that the machine has slept since it was started.
  package var asleep: Double
  package var wall: Int64 { wallNanoseconds / 1_000_000_000 }

  package init(instant: Instant, wallNanoseconds: Int64, asleep: Double = 0) {
    (self.instant, self.wallNanoseconds, self.asleep) = (instant, wallNanoseconds, asleep)
  }
}

/// Timers, one for each name: the earliest time that was asked for. A timer that is due is taken out.
struct TimerQueue<Name: Hashable & Comparable>: Hashable {
  private var times: [Name: Instant] = [:]
  private(set) var next: Instant?

  mutating func add(_ name: Name, at time: Instant) {
    times[name] = min(time, times[name] ?? time)
    next = min(time, next ?? time)
  }

  mutating func takeDue(_ now: Instant) -> [Name] {
    guard let next, next <= now else { return [] }
    let due = times.filter { $0.value <= now }.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
    for name in due { times[name] = nil }
    self.next = times.values.min()
    return due
  }
}

/// SplitMix64 (Steele and others 2014): the engine's chance, from a seed that it is given.
package struct SplitMix: RandomNumberGenerator, Hashable, Sendable {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  mutating func jitter(_ value: Double) -> Double { value * Double.random(in: 0.75...1.25, using: &self) }
}
