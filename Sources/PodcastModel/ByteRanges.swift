/// Which bytes of a file are meant, as ranges of offsets: sorted, disjoint and not touching each other.
package struct ByteRanges: Hashable, Sendable {
  private var offsets = RangeSet<Int64>()

  package init() {}
  package init(_ ranges: some Sequence<Range<Int64>>) { for range in ranges { insert(range) } }
  package var ranges: [Range<Int64>] { Array(offsets.ranges) }
  package var isEmpty: Bool { offsets.isEmpty }
  package var count: Int64 { offsets.ranges.reduce(0) { $0 + Int64($1.count) } }

  /// The offset behind the last byte; 0 where there is none.
  package var end: Int64 { offsets.ranges.last?.upperBound ?? 0 }
  package mutating func insert(_ range: Range<Int64>) { offsets.insert(contentsOf: range) }
  package mutating func formUnion(_ other: ByteRanges) { offsets.formUnion(other.offsets) }
  package mutating func remove(_ range: Range<Int64>) { offsets.remove(contentsOf: range) }
  package mutating func truncate(at end: Int64) { remove(end ..< .max) }
  package func contains(_ offset: Int64) -> Bool { run(at: offset) != nil }

  /// Whether every byte of `range` is in; so it is of an empty one.
  package func contains(_ range: Range<Int64>) -> Bool {
    range.isEmpty || run(at: range.lowerBound).map { $0.upperBound >= range.upperBound } ?? false
  }

  package func run(at offset: Int64) -> Range<Int64>? {
    rest(behind: offset).first.flatMap { $0.lowerBound <= offset ? $0 : nil }
  }

  /// The first range that begins at `offset` or behind it.
  package func run(from offset: Int64) -> Range<Int64>? {
    rest(behind: offset).prefix(2).first { $0.lowerBound >= offset }
  }

  package func missing(in range: Range<Int64>) -> [Range<Int64>] {
    var missing = RangeSet(range)
    for run in rest(behind: range.lowerBound) {
      if run.lowerBound >= range.upperBound { break }
      missing.remove(contentsOf: run)
    }
    return Array(missing.ranges)
  }

  /// The bytes around `offset`, which is not in, up to those that are: .max as its end where none follow.
  package func hole(around offset: Int64) -> Range<Int64> {
    let rest = rest(behind: offset)
    let lower = offsets.ranges[..<rest.startIndex].last?.upperBound ?? 0
    return lower..<(rest.first.map { max($0.lowerBound, lower) } ?? .max)
  }

  /// The first byte at `offset` or behind it that is not in.
  package func firstMissing(from offset: Int64) -> Int64 { run(at: offset)?.upperBound ?? offset }

  /// The ranges that end behind `offset`.
  private func rest(behind offset: Int64) -> Slice<RangeSet<Int64>.Ranges> {
    var (low, high) = (offsets.ranges.startIndex, offsets.ranges.endIndex)
    while low < high {
      let middle = (low + high) / 2
      if offsets.ranges[middle].upperBound <= offset { low = middle + 1 } else { high = middle }
    }
    return offsets.ranges[low...]
  }
}
