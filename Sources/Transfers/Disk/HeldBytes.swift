internal import PodcastModel

/// What a response has brought and the disk has not been given: in chunks that end where those of the file do.
struct HeldBytes {
  struct Piece: Sendable {
    let chunk: Chunk
    let range: Range<Int>
    let offset: Int64

    var bytes: UnsafeRawBufferPointer { chunk.read(range) }

    /// What of it lies in `wanted`, `shift` bytes further on; nil where nothing does.
    fileprivate func part(in wanted: Range<Int64>, shift: Int64 = 0) -> Piece? {
      let part = (offset..<offset + Int64(range.count)).clamped(to: wanted)
      if part.isEmpty { return nil }
      let start = range.lowerBound + Int(part.lowerBound - offset)
      return Piece(chunk: chunk, range: start..<start + part.count, offset: part.lowerBound + shift)
    }
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
    defer { pieces = pieces.compactMap { $0.part(in: wanted.upperBound..<Int64.max) } }
    return pieces.compactMap { $0.part(in: wanted, shift: shift) }
  }
}

/// Memory for a piece of a body. The loop fills each byte once, before it hands it out: that makes it Sendable.
final class Chunk: @unchecked Sendable {
  /// 64 KiB: less would make many pieces of a write; larger blocks malloc(3) would give back to the kernel each time.
  static let size = 64 << 10

  private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)

  deinit { memory.deallocate() }

  func fill(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    UnsafeMutableRawBufferPointer(rebasing: memory[offset..<offset + bytes.count]).copyMemory(from: bytes)
  }

  func read(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory)[range])
  }
}
