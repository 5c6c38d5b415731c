internal import CLibXML2

/// Gets the elements and texts of an XML document in their order. A base class rather than a protocol, so that the
/// parser's calls need no existential.
class XMLReceiver {
  /// Whether text is of use now: there is no call for it else.
  @exclusivity(unchecked) final var wantsText = true

  /// Forget all that came: the document is read again from its start, repaired.
  func restart() {}
  func startElement(_ element: XMLElement) {}
  func endElement() {}
  /// A piece of text, valid only during the call.
  func text(_ bytes: UnsafeBufferPointer<UInt8>) {}
}

/// libxml2's push parser in its SAX2 form, for UTF-8. It builds no tree, loads nothing, and replaces only
/// references to characters, so that nothing can expand; depth and sizes are bounded by libxml2's own limits.
final class XMLPushParser {
  private let context: xmlParserCtxtPtr
  private let receiver: XMLReceiver
  private let recovers: Bool
  /// Whether the document has proved not to be well-formed, or has entities that XML does not know.
  @exclusivity(unchecked) private(set) var hasFailed = false
  @exclusivity(unchecked) private(set) var openElements = 0

  /// - Parameter recovers: whether it goes on after errors, as well as it can.
  init(receiver: XMLReceiver, recovers: Bool) throws(FeedError) {
    (self.receiver, self.recovers) = (receiver, recovers)
    var handler = Self.handler
    guard let context = xmlCreatePushParserCtxt(&handler, nil, nil, 0, nil) else { throw .outOfMemory }
    self.context = context
    let options = XML_PARSE_NOENT.rawValue | XML_PARSE_NONET.rawValue | XML_PARSE_IGNORE_ENC.rawValue
    xmlCtxtUseOptions(context, Int32(recovers ? options | XML_PARSE_RECOVER.rawValue : options))
    context.pointee.userData = Unmanaged.passUnretained(self).toOpaque()
  }

  deinit {
    // In SAX mode libxml2 keeps the declarations of a document type in a document of its own.
    if let document = context.pointee.myDoc { xmlFreeDoc(document) }
    context.pointee.myDoc = nil
    xmlFreeParserCtxt(context)
  }

  private var isRunning: Bool { recovers || !hasFailed }

  func parse(_ bytes: UnsafeRawBufferPointer) {
    // Small pieces: where a CDATA section has no end yet, libxml2 searches all that it holds again and again.
    for start in stride(from: 0, to: bytes.count, by: 16_384) where isRunning {
      let piece = UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + 16_384, bytes.count)])
      xmlParseChunk(context, piece.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(piece.count), 0)
    }
  }

  func finish() {
    if isRunning { xmlParseChunk(context, nil, 0, 1) }
    if context.pointee.wellFormed == 0 { hasFailed = true }
  }

  /// This table of functions is filled once. The code and libxml2 only read it then, so threads may share it.
  nonisolated(unsafe) private static let handler: xmlSAXHandler = {
    xmlInitParser()
    var handler = xmlSAXHandler()
    handler.initialized = UInt32(XML_SAX2_MAGIC)
    handler.startElementNs = { data, name, prefix, namespace, _, _, count, _, attributes in
      guard let name else { return }
      let element = XMLElement(
        localName: name, prefix: prefix, namespace: namespace,
        attributes: attributes.map { UnsafePointer($0) }, attributeCount: Int(count))
      XMLPushParser.with(data) { parser in
        parser.openElements += 1
        if parser.isRunning { parser.receiver.startElement(element) }
      }
    }
    handler.endElementNs = { data, _, _, _ in
      XMLPushParser.with(data) { parser in
        parser.openElements -= 1
        if parser.isRunning { parser.receiver.endElement() }
      }
    }
    handler.characters = { data, bytes, count in
      let text = UnsafeBufferPointer(start: bytes, count: Int(count))
      XMLPushParser.with(data) { if $0.receiver.wantsText, $0.isRunning { $0.receiver.text(text) } }
    }
    handler.ignorableWhitespace = handler.characters
    handler.cdataBlock = handler.characters
    // libxml2 asks here for an entity that XML does not define, such as HTML's `&nbsp;`. This counts as an error: the
    // document is repaired and read again. In a document with a DOCTYPE, libxml2 itself only warns and drops the text.
    handler.getEntity = { data, _ in
      XMLPushParser.with(data) { $0.hasFailed = true }
      return nil
    }
    handler.serror = { data, error in
      guard let error, error.pointee.level == XML_ERR_FATAL else { return }
      XMLPushParser.with(data) { $0.hasFailed = true }
    }
    return handler
  }()

  /// Calls `body` with the parser of a callback, which is alive for as long as libxml2 runs.
  private static func with(_ data: UnsafeMutableRawPointer?, _ body: (XMLPushParser) -> Void) {
    guard let data else { preconditionFailure("libxml2 calls back with the data that it was given") }
    Unmanaged<XMLPushParser>.fromOpaque(data)._withUnsafeGuaranteedRef(body)
  }
}
