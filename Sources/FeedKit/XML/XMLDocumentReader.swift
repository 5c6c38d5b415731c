internal import PosixKit

/// Reads a document that may not be well-formed: strictly while it comes; where that fails, once more from
/// its start, repaired.
final class XMLDocumentReader {
  private let receiver: XMLReceiver
  private let httpCharset: String?
  private let byteLimit: Int
  private let entityLimit: Int
  private let spool = ByteSpool()
  /// What has come since the last whole piece.
  private var piece: [UInt8] = []
  private var hasBegun = false
  private var count = 0
  private var decoder = TextDecoder(.utf8)
  private var encoding = TextEncoding.utf8
  private var markLength = 0
  private var strict: XMLPushParser?

  /// - Parameters:
  ///   - receiver: is told what the document holds, and to forget it where the document is read again.
  ///   - httpCharset: the `charset` that HTTP said.
  ///   - byteLimit: the most bytes that are taken.
  ///   - entityLimit: bytes that entities of the document's own may stand for together.
  init(
    receiver: XMLReceiver, httpCharset: String?, byteLimit: Int, entityLimit: Int
  ) throws(FeedError) {
    guard let parser = XMLPushParser(receiver: receiver, mode: .strict, entityLimit: entityLimit) else {
      throw .outOfMemory
    }
    self.receiver = receiver
    self.httpCharset = httpCharset
    self.byteLimit = byteLimit
    self.entityLimit = entityLimit
    strict = parser
  }

  func consume(_ bytes: UnsafeRawBufferPointer) throws(FeedError) {
    count += bytes.count
    guard count <= byteLimit else { throw .tooLarge(limit: byteLimit) }
    var start = 0
    while start < bytes.count {
      let end = min(bytes.count, start + Self.pieceSize - piece.count)
      piece.append(contentsOf: bytes[start..<end])
      start = end
      if piece.count == Self.pieceSize { try takePiece() }
    }
  }

  /// - Returns: what was repaired; nil where the document is well-formed.
  func finish() throws(FeedError) -> XMLRepairs? {
    try takePiece()
    if let strict {
      strict.finish()
      if strict.failure == nil { return nil }
    }
    strict = nil
    receiver.restart()
    return try parseRepaired()
  }

  /// Pieces of one size, however the bytes come: libxml2 does not find every error at the same place where
  /// the pieces differ.
  private static let pieceSize = 65_536

  private func takePiece() throws(FeedError) {
    receiver.documentBytes += piece.count
    do {
      try piece.withUnsafeBufferPointer { bytes throws(PosixError) in
        try spool.append(UnsafeRawBufferPointer(bytes))
      }
    } catch {
      throw .storage(error)
    }
    if !hasBegun {
      hasBegun = true
      (encoding, markLength) = TextEncoding.detect(Array(piece.prefix(1024)), httpCharset: httpCharset)
      decoder = TextDecoder(encoding)
      piece.withUnsafeBytes { parse(UnsafeRawBufferPointer(rebasing: $0[markLength...])) }
    } else {
      piece.withUnsafeBytes { parse($0) }
    }
    piece.removeAll(keepingCapacity: true)
  }

  private func parse(_ bytes: UnsafeRawBufferPointer) {
    guard let strict else { return }
    decoder.decode(bytes) { strict.parse($0) }
    if !strict.isRunning { self.strict = nil }
  }

  private func parseRepaired() throws(FeedError) -> XMLRepairs {
    guard let parser = XMLPushParser(receiver: receiver, mode: .recovering, entityLimit: entityLimit)
    else { throw .outOfMemory }
    let repairer = XMLRepairer { parser.parse($0) }
    let decoder = TextDecoder(encoding)
    var toSkip = markLength
    do {
      try spool.forEachPiece { piece in
        let rest = UnsafeRawBufferPointer(rebasing: piece[toSkip...])
        toSkip = 0
        decoder.decode(rest) { repairer.consume($0) }
      }
    } catch {
      throw .storage(error)
    }
    repairer.finish()
    parser.finish()
    return repairer.repairs
  }
}
