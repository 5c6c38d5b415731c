/// Reads a document that may not be well-formed: strictly; where that fails, once more from its start, repaired.
struct XMLDocumentReader {
  /// Is told what the document holds, and to forget it where the document is read again.
  let receiver: XMLReceiver
  /// The `charset` that HTTP said.
  let httpCharset: String?
  /// The most bytes that are taken.
  let byteLimit: Int
  /// Bytes that entities of the document's own may stand for together.
  let entityLimit: Int

  /// - Returns: what was repaired; nil where the document is well-formed.
  func read(_ source: XMLSource) throws(FeedError) -> XMLRepairs? {
    guard let strict = XMLPushParser(receiver: receiver, mode: .strict, entityLimit: entityLimit) else {
      throw .outOfMemory
    }
    receiver.documentBytes = 0
    try pass(source) { bytes in
      strict.parse(bytes)
      return strict.isRunning
    }
    strict.finish()
    if strict.failure == nil { return nil }
    receiver.restart()
    return try readRepaired(source)
  }

  private func readRepaired(_ source: XMLSource) throws(FeedError) -> XMLRepairs {
    guard let parser = XMLPushParser(receiver: receiver, mode: .recovering, entityLimit: entityLimit) else {
      throw .outOfMemory
    }
    let repairer = XMLRepairer { parser.parse($0) }
    receiver.documentBytes = 0
    try pass(source) { bytes in
      repairer.consume(bytes)
      return true
    }
    repairer.finish()
    parser.finish()
    return repairer.repairs
  }

  /// Hands the document over in UTF-8, as long as `body` wants more.
  private func pass(
    _ source: XMLSource, _ body: (UnsafeRawBufferPointer) -> Bool
  ) throws(FeedError) {
    var decoder: TextDecoder?
    try source.forEachPiece { piece throws(FeedError) in
      receiver.documentBytes += piece.count
      guard receiver.documentBytes <= byteLimit else { throw .tooLarge(limit: byteLimit) }
      var rest = piece
      if decoder == nil {
        let found = TextEncoding.detect(Array(piece.prefix(1024)), httpCharset: httpCharset)
        decoder = TextDecoder(found.encoding)
        rest = UnsafeRawBufferPointer(rebasing: piece[found.markLength...])
      }
      var wantsMore = true
      decoder?.decode(rest) { wantsMore = body($0) && wantsMore }
      return wantsMore
    }
  }
}
