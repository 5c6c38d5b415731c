internal import PosixKit

/// Reads a document that may not be well-formed: strictly while it comes; where that fails, once more from
/// its start, repaired.
final class XMLDocumentReader {
  private let receiver: XMLReceiver
  private let httpCharset: String?
  private let byteLimit: Int
  private let spool = ByteSpool()
  /// The first bytes, until the encoding is known.
  private var head: [UInt8]? = []
  private var decoder = TextDecoder(.utf8)
  private var encoding = TextEncoding.utf8
  private var markLength = 0
  private var strict: XMLPushParser?

  /// - Parameters:
  ///   - receiver: is told what the document holds, and to forget it where the document is read again.
  ///   - httpCharset: the `charset` that HTTP said.
  ///   - byteLimit: the most bytes that are taken.
  init(receiver: XMLReceiver, httpCharset: String?, byteLimit: Int) throws(FeedError) {
    guard let parser = XMLPushParser(receiver: receiver, mode: .strict) else { throw .outOfMemory }
    self.receiver = receiver
    self.httpCharset = httpCharset
    self.byteLimit = byteLimit
    strict = parser
  }

  func consume(_ bytes: UnsafeRawBufferPointer) throws(FeedError) {
    guard spool.count + bytes.count <= byteLimit else { throw .tooLarge(limit: byteLimit) }
    do { try spool.append(bytes) } catch { throw .storage(error) }
    if head != nil {
      head?.append(contentsOf: bytes)
      if let head, head.count >= 1024 { begin(head) }
    } else {
      parse(bytes)
    }
  }

  /// - Returns: what was repaired; nil where the document is well-formed.
  func finish() throws(FeedError) -> XMLRepairs? {
    if let head { begin(head) }
    if let strict {
      strict.finish()
      if strict.failure == nil { return nil }
    }
    strict = nil
    receiver.restart()
    return try parseRepaired()
  }

  private func begin(_ head: [UInt8]) {
    self.head = nil
    (encoding, markLength) = TextEncoding.detect(head, httpCharset: httpCharset)
    decoder = TextDecoder(encoding)
    head.withUnsafeBytes { parse(UnsafeRawBufferPointer(rebasing: $0[markLength...])) }
  }

  private func parse(_ bytes: UnsafeRawBufferPointer) {
    guard let strict else { return }
    decoder.decode(bytes) { strict.parse($0) }
    if !strict.isRunning { self.strict = nil }
  }

  private func parseRepaired() throws(FeedError) -> XMLRepairs {
    guard let parser = XMLPushParser(receiver: receiver, mode: .recovering) else { throw .outOfMemory }
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
