/// Reads a document that may not be well-formed: strictly; where that fails, once more from its start, repaired.
struct XMLDocumentReader {
  /// Gets what the document holds, and forgets it where the document is read again.
  let receiver: XMLReceiver
  /// The most bytes that are taken.
  let byteLimit: Int

  /// - Returns: what was repaired; nil where the document is well-formed.
  func read(_ document: XMLDocument) throws(FeedError) -> XMLRepairs? {
    guard document.bytes.count <= byteLimit else { throw .tooLarge(limit: byteLimit) }
    guard let strict = XMLPushParser(receiver: receiver, mode: .strict) else {
      throw .outOfMemory
    }
    document.read { piece, count in
      receiver.documentBytes = count
      strict.parse(piece)
      return strict.isRunning
    }
    strict.finish()
    if !strict.hasFailed { return nil }
    receiver.restart()
    return try readRepaired(document)
  }

  private func readRepaired(_ document: XMLDocument) throws(FeedError) -> XMLRepairs {
    guard let parser = XMLPushParser(receiver: receiver, mode: .recovering) else {
      throw .outOfMemory
    }
    receiver.documentBytes = document.bytes.count
    return document.withText { text in
      var repairer = XMLRepairer(text) { parser.parse($0) }
      repairer.run()
      parser.finish()
      return repairer.repairs
    }
  }
}
