/// What the length of a data file tells of the bytes in it: somebody may have cut the file, or have put another one in
/// its place, while nobody looked.
package enum FileLength {
  /// Bytes that have a checksum together: what a cut has left of them can't be told from anything else.
  package static let piece: Int64 = 1 << 20

  /// How many of the bytes that are remembered are still there, at the most: nobody has read them.
  /// - Parameters:
  ///   - isCached: whether all bytes were there; else there may be gaps among them.
  ///   - length: the data file's.
  package static func received(
    _ remembered: Int64, of total: Int64?, isCached: Bool, length: Int64
  ) -> Int64 {
    guard isCached, let total else {
      return remembered <= length ? remembered : length / piece * piece
    }
    return length == total ? total : min(length, total - 1) / piece * piece
  }
}
