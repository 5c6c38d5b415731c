/// A document's bytes, and how they stand for characters. Making it opens what decodes them, which may need files.
struct XMLDocument {
  let bytes: UnsafeRawBufferPointer
  private let markLength: Int
  private let isUTF8: Bool
  /// One for each time that the document may be read.
  private let decoders: [TextDecoder]

  /// libxml2 does not find every error at the same place where the pieces differ: so they have one size.
  private static let pieceSize = 65_536

  /// - Parameter httpCharset: the `charset` of the Content-Type, where there is one.
  init(_ bytes: UnsafeRawBufferPointer, httpCharset: String?) {
    self.bytes = bytes
    let found = TextEncoding.detect(Array(bytes.prefix(1024)), httpCharset: httpCharset)
    markLength = found.markLength
    isUTF8 = found.encoding == .utf8
    decoders = [TextDecoder(found.encoding), TextDecoder(found.encoding)]
  }

  /// Hands the document over in UTF-8, for as long as `body` wants more.
  /// - Parameter body: gets a piece, and how many bytes of the document have come with it.
  func read(_ body: (UnsafeRawBufferPointer, Int) -> Bool) { read(with: decoders[0], body) }

  /// The whole text in UTF-8, but for single bytes where it says that it is UTF-8 and is none.
  func withText<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    if isUTF8 {
      return UnsafeRawBufferPointer(rebasing: bytes.dropFirst(markLength)).withMemoryRebound(
        to: UInt8.self, body)
    }
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count + bytes.count / 8)
    read(with: decoders[1]) { piece, _ in
      text += piece
      return true
    }
    return text.withUnsafeBufferPointer(body)
  }

  private func read(with decoder: TextDecoder, _ body: (UnsafeRawBufferPointer, Int) -> Bool) {
    var start = min(markLength, bytes.count)
    var wantsMore = true
    while start < bytes.count, wantsMore {
      let end = min(start - start % Self.pieceSize + Self.pieceSize, bytes.count)
      decoder.decode(UnsafeRawBufferPointer(rebasing: bytes[start..<end])) {
        wantsMore = body($0, end) && wantsMore
      }
      start = end
    }
  }
}
