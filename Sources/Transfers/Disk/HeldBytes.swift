internal import PodcastModel

/// What a response has brought and the disk has not been given: in chunks that end where those of the file do.
struct HeldBytes {
  struct Piece: Sendable {
    let chunk: Chunk
    let range: Range<Int>
    let offset: Int64

    var bytes: UnsafeRawBufferPointer { chunk.read(range) }
  }

  /// Places as the engine names them are this much behind those that were expected.
  private var shift: Int64 = 0
  private var end: Int64
  private var pieces: [Piece] = []

  init(at start: Int64) { end = start }

  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    var rest = bytes
    while !rest.isEmpty {
      let place = Int(end % Int64(Chunk.size))
      let part = UnsafeRawBufferPointer(rebasing: rest.prefix(Chunk.size - place))
      if let last = pieces.last, place > 0, last.range.upperBound == place {
        last.chunk.fill(part, at: place)
        pieces[pieces.count - 1] = Piece(
          chunk: last.chunk, range: last.range.lowerBound..<place + part.count, offset: last.offset)
      } else {
        let chunk = Chunk()
        chunk.fill(part, at: place)
        pieces.append(Piece(chunk: chunk, range: place..<place + part.count, offset: end))
      }
      end += Int64(part.count)
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(part.count))
    }
  }

  /// The first byte belongs at `offset`, whatever was expected.
  mutating func place(at offset: Int64) { shift = offset - (pieces.first?.offset ?? end) }

  /// Takes the bytes of `range`, and drops those before it.
  mutating func take(_ range: Range<Int64>) -> [Piece] {
    let wanted = range.lowerBound - shift..<range.upperBound - shift
    var taken: [Piece] = []
    while let piece = pieces.first, piece.offset < wanted.upperBound {
      pieces.removeFirst()
      let extent = piece.offset..<piece.offset + Int64(piece.range.count)
      let part = extent.clamped(to: wanted)
      if !part.isEmpty {
        let from = piece.range.lowerBound + Int(part.lowerBound - piece.offset)
        taken.append(
          Piece(
            chunk: piece.chunk, range: from..<from + Int(part.upperBound - part.lowerBound),
            offset: part.lowerBound + shift))
      }
      if extent.upperBound > wanted.upperBound {
        let kept = Int(wanted.upperBound - piece.offset)
        let lower = piece.range.lowerBound + max(kept, 0)
        pieces.insert(
          Piece(
            chunk: piece.chunk, range: lower..<piece.range.upperBound,
            offset: piece.offset + Int64(max(kept, 0))), at: 0)
        break
      }
    }
    return taken
  }
}
