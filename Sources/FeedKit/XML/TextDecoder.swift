internal import CLibXML2
internal import PodcastModel

/// Turns a document's bytes into UTF-8, piece by piece. Bytes that mean nothing become U+FFFD; UTF-8 is
/// handed on as it is.
final class TextDecoder {
  private let encoding: TextEncoding
  private let handler: UnsafeMutablePointer<xmlCharEncodingHandler>?
  private let input: xmlBufferPtr?
  private let output: xmlBufferPtr?

  init(_ encoding: TextEncoding) {
    self.encoding = encoding
    if case .other(let name) = encoding {
      handler = xmlFindCharEncodingHandler(name)
      input = xmlBufferCreate()
      output = xmlBufferCreate()
    } else {
      (handler, input, output) = (nil, nil, nil)
    }
  }

  deinit {
    if let handler { xmlCharEncCloseFunc(handler) }
    if let input { xmlBufferFree(input) }
    if let output { xmlBufferFree(output) }
  }

  /// Whether there is a decoder of this name.
  static func isKnown(_ name: String) -> Bool {
    guard let handler = xmlFindCharEncodingHandler(name) else { return false }
    xmlCharEncCloseFunc(handler)
    return true
  }

  /// Hands the bytes on in UTF-8.
  func decode(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) {
    switch encoding {
    case .utf8: body(bytes)
    case .windows1252: decodeWindows1252(bytes, body)
    case .other: decodeOther(bytes, body)
    }
  }

  private func decodeWindows1252(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count + bytes.count / 8)
    for byte in bytes {
      if byte < 0x80 { text.append(byte) } else { Windows1252.append(byte, to: &text) }
    }
    text.withUnsafeBytes(body)
  }

  private func decodeOther(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) {
    guard let handler, let input, let output else { return body(bytes) }
    // Else libxml2 writes on standard error, thread by thread.
    xmlSetStructuredErrorFunc(nil) { _, _ in }
    var start = 0
    while start < bytes.count {
      let count = min(bytes.count - start, 16_384)
      let piece = UnsafeRawBufferPointer(rebasing: bytes[start..<start + count])
      xmlBufferAdd(input, piece.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(count))
      start += count
      while true {
        let before = input.pointee.use
        let result = xmlCharEncInFunc(handler, output, input)
        if result == -2, input.pointee.use > 0 {
          xmlBufferShrink(input, 1)
          xmlBufferCat(output, "\u{FFFD}")
        } else if result < 0 || input.pointee.use == 0 || input.pointee.use == before {
          break
        }
      }
      body(UnsafeRawBufferPointer(start: output.pointee.content, count: Int(output.pointee.use)))
      xmlBufferEmpty(output)
    }
  }
}
