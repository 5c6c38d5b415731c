/// A body whose every byte follows from a seed and its place, so that a test can check any part of it
/// without keeping it.
package struct TestBody: Hashable, Sendable {
  package let seed: UInt64
  package let size: Int64

  package init(seed: UInt64, size: Int64) {
    self.seed = seed
    self.size = size
  }

  package func byte(at offset: Int64) -> UInt8 {
    UInt8(truncatingIfNeeded: word(UInt64(offset) >> 3) >> (UInt64(offset & 7) * 8))
  }

  /// The bytes of a range, cut at the size.
  package func bytes(_ range: Range<Int64>) -> [UInt8] {
    let range = range.clamped(to: 0..<size)
    // Whole words around the range, then the part asked for.
    let first = range.lowerBound >> 3
    let count = Int((range.upperBound + 7) >> 3 - first)
    let words = [UInt64](unsafeUninitializedCapacity: max(count, 0)) { buffer, initialized in
      for index in 0..<max(count, 0) { buffer[index] = word(UInt64(first) + UInt64(index)).littleEndian }
      initialized = max(count, 0)
    }
    let start = Int(range.lowerBound - first << 3)
    return words.withUnsafeBytes { Array($0[start..<start + range.count]) }
  }

  package var bytes: [UInt8] { bytes(0..<size) }

  /// Where `bytes`, said to be from `offset` on, first differs; nil where all of it is right.
  package func firstDifference(_ bytes: some Collection<UInt8>, at offset: Int64 = 0) -> Int64? {
    let right = self.bytes(offset..<offset + Int64(bytes.count))
    if right.count == bytes.count, right.elementsEqual(bytes) { return nil }
    let pairs = zip(right, bytes).enumerated()
    return offset + Int64(pairs.first { $0.element.0 != $0.element.1 }?.offset ?? right.count)
  }

  /// SplitMix64's mixing of seed and place.
  private func word(_ index: UInt64) -> UInt64 {
    var z = seed &+ (index &+ 1) &* 0x9e37_79b9_7f4a_7c15
    z = (z ^ z >> 30) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ z >> 27) &* 0x94d0_49bb_1331_11eb
    return z ^ z >> 31
  }
}
