/// Which bytes of a file are meant: ranges of offsets, sorted, disjoint and not touching each other.
package struct ByteRanges: Hashable, Sendable {
  /// Invariant: none is empty, each ends before the next begins.
  package private(set) var ranges: [Range<Int64>] = []

  package init() {}

  package init(_ ranges: some Sequence<Range<Int64>>) {
    for range in ranges { insert(range) }
  }

  package var isEmpty: Bool { ranges.isEmpty }

  package var count: Int64 { ranges.reduce(0) { $0 + Int64($1.count) } }

  /// The offset behind the last byte; 0 where there is none.
  package var end: Int64 { ranges.last?.upperBound ?? 0 }

  /// The first index whose range ends behind `offset` (or at it, where `touching`).
  private func index(endingBehind offset: Int64, touching: Bool = false) -> Int {
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      let end = ranges[middle].upperBound
      if touching ? end < offset : end <= offset { low = middle + 1 } else { high = middle }
    }
    return low
  }

  package mutating func insert(_ range: Range<Int64>) {
    guard !range.isEmpty else { return }
    // Bytes mostly come in order: the last range grows.
    if let last = ranges.last, last.upperBound == range.lowerBound {
      ranges[ranges.count - 1] = last.lowerBound..<range.upperBound
      return
    }
    let first = index(endingBehind: range.lowerBound, touching: true)
    var merged = range
    var behind = first
    while behind < ranges.count, ranges[behind].lowerBound <= merged.upperBound {
      let lower = min(merged.lowerBound, ranges[behind].lowerBound)
      merged = lower..<max(merged.upperBound, ranges[behind].upperBound)
      behind += 1
    }
    ranges.replaceSubrange(first..<behind, with: CollectionOfOne(merged))
  }

  package mutating func formUnion(_ other: ByteRanges) {
    for range in other.ranges { insert(range) }
  }

  package mutating func remove(_ range: Range<Int64>) {
    guard !range.isEmpty else { return }
    ranges = ranges.flatMap { run in
      [run.clamped(to: .min..<range.lowerBound), run.clamped(to: range.upperBound ..< .max)]
        .filter { !$0.isEmpty }
    }
  }

  package mutating func truncate(at end: Int64) { remove(end ..< .max) }

  package func contains(_ offset: Int64) -> Bool { run(at: offset) != nil }

  /// Whether every byte of `range` is in; so it is of an empty one.
  package func contains(_ range: Range<Int64>) -> Bool {
    if range.isEmpty { return true }
    guard let run = run(at: range.lowerBound) else { return false }
    return run.upperBound >= range.upperBound
  }

  package func run(at offset: Int64) -> Range<Int64>? {
    let index = index(endingBehind: offset)
    guard index < ranges.count, ranges[index].lowerBound <= offset else { return nil }
    return ranges[index]
  }

  /// The first range that begins at `offset` or behind it.
  package func run(from offset: Int64) -> Range<Int64>? {
    var index = index(endingBehind: offset)
    if index < ranges.count, ranges[index].lowerBound < offset { index += 1 }
    return index < ranges.count ? ranges[index] : nil
  }

  package func missing(in range: Range<Int64>) -> [Range<Int64>] {
    var result: [Range<Int64>] = []
    var at = range.lowerBound
    var index = index(endingBehind: at)
    while at < range.upperBound {
      guard index < ranges.count, ranges[index].lowerBound < range.upperBound else {
        result.append(at..<range.upperBound)
        break
      }
      if ranges[index].lowerBound > at { result.append(at..<ranges[index].lowerBound) }
      at = ranges[index].upperBound
      index += 1
    }
    return result
  }

  /// The bytes around `offset`, which is not in, up to those that are: .max as its end where none follow.
  package func hole(around offset: Int64) -> Range<Int64> {
    let next = index(endingBehind: offset)
    let lower = next > 0 ? ranges[next - 1].upperBound : 0
    return lower..<(next < ranges.count ? max(ranges[next].lowerBound, lower) : .max)
  }

  /// The first byte at `offset` or behind it that is not in.
  package func firstMissing(from offset: Int64) -> Int64 { run(at: offset)?.upperBound ?? offset }
}
