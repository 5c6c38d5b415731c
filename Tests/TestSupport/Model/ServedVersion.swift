/// What an origin's answers for an episode are of: a body, and from a place on a mark of each answer's own.
package struct ServedVersion: Sendable {
  package let body: TestBody
  /// From where on each answer is another one (`OriginBehaviour.variesFrom`).
  package let variesFrom: Int64?
  /// XORed to each byte from `variesFrom` on; nil until a byte there was seen.
  private var mark: UInt8?

  package init(_ body: TestBody, variesFrom: Int64? = nil) {
    self.body = body
    self.variesFrom = variesFrom
  }

  /// What of `bytes` is not of it, for the story of a failure.
  package func difference(from bytes: [UInt8], at offset: Int64) -> String {
    let right = body.bytes(offset..<offset + Int64(bytes.count))
    var marks: [(Int64, UInt8)] = []
    for (index, pair) in zip(right, bytes).enumerated() where marks.last?.1 != pair.0 ^ pair.1 {
      marks.append((offset + Int64(index), pair.0 ^ pair.1))
      if marks.count == 4 { break }
    }
    return "\(body.seed) of \(body.size) bytes, varying from \(variesFrom ?? -1), mark \(mark ?? 0): \(marks)"
  }

  /// The version with its mark as seen; nil where the bytes are not of it.
  package func agreeing(with bytes: [UInt8], at offset: Int64) -> ServedVersion? {
    guard let start = variesFrom, offset + Int64(bytes.count) > start else {
      return body.firstDifference(bytes, at: offset) == nil ? self : nil
    }
    let right = body.bytes(offset..<offset + Int64(bytes.count))
    guard right.count == bytes.count else { return nil }
    let plain = Int(min(max(start - offset, 0), Int64(bytes.count)))
    guard right[..<plain].elementsEqual(bytes[..<plain]) else { return nil }
    var result = self
    let mark = mark ?? right[plain] ^ bytes[plain]
    result.mark = mark
    return zip(right[plain...], bytes[plain...]).allSatisfy { $0 ^ $1 == mark } ? result : nil
  }
}
