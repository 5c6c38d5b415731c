internal import CLibXML2
internal import PodcastModel

/// libxml2's push parser in its SAX2 form, for UTF-8. It builds no tree, loads nothing, and replaces only
/// references to characters and to the entities of HTML, so that nothing can expand;
/// depth and sizes are bounded by libxml2's own limits.
final class XMLPushParser {
  enum Mode {
    /// Ends at the first error.
    case strict
    /// Goes on after errors, as well as it can.
    case recovering
  }

  private let context: xmlParserCtxtPtr
  private let receiver: XMLReceiver
  private let mode: Mode
  @exclusivity(unchecked) private var entities = XMLEntityTable()
  /// Whether the document has proved not to be well-formed.
  @exclusivity(unchecked) private(set) var hasFailed = false

  /// - Returns: nil where there is no memory.
  init?(receiver: XMLReceiver, mode: Mode) {
    _ = Self.initializeOnce
    self.receiver = receiver
    self.mode = mode
    var handler = Self.makeHandler()
    guard let context = xmlCreatePushParserCtxt(&handler, nil, nil, 0, nil) else { return nil }
    self.context = context
    var options = XML_PARSE_NOENT.rawValue | XML_PARSE_NONET.rawValue | XML_PARSE_IGNORE_ENC.rawValue
    if mode == .recovering { options |= XML_PARSE_RECOVER.rawValue }
    xmlCtxtUseOptions(context, Int32(options))
    context.pointee.userData = Unmanaged.passUnretained(self).toOpaque()
  }

  deinit {
    // In SAX mode libxml2 keeps the declarations of a document type in a document of its own.
    if let document = context.pointee.myDoc { xmlFreeDoc(document) }
    context.pointee.myDoc = nil
    xmlFreeParserCtxt(context)
    entities.deallocate()
  }

  /// Whether more bytes can change anything.
  var isRunning: Bool { mode == .recovering || !hasFailed }

  func parse(_ bytes: UnsafeRawBufferPointer) {
    // Small pieces: where a CDATA section has no end yet, libxml2 searches all that it holds again and again.
    var start = 0
    while start < bytes.count, isRunning {
      let count = min(bytes.count - start, 16_384)
      let piece = UnsafeRawBufferPointer(rebasing: bytes[start..<start + count])
      xmlParseChunk(context, piece.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(count), 0)
      start += count
    }
  }

  func finish() {
    if isRunning { xmlParseChunk(context, nil, 0, 1) }
    if context.pointee.wellFormed == 0 { hasFailed = true }
  }

  private static let initializeOnce: Void = xmlInitParser()

  private static func makeHandler() -> xmlSAXHandler {
    var handler = xmlSAXHandler()
    handler.initialized = UInt32(XML_SAX2_MAGIC)
    handler.startElementNs = { data, name, prefix, namespace, _, _, count, _, attributes in
      guard let name else { return }
      let element = XMLElement(
        localName: name, prefix: prefix, namespace: namespace,
        attributes: attributes.map { UnsafePointer($0) }, attributeCount: Int(count))
      XMLPushParser.with(data) { if $0.isRunning { $0.receiver.startElement(element) } }
    }
    handler.endElementNs = { data, _, _, _ in
      XMLPushParser.with(data) { if $0.isRunning { $0.receiver.endElement() } }
    }
    handler.characters = { data, bytes, count in
      let text = UnsafeBufferPointer(start: bytes, count: Int(count))
      XMLPushParser.with(data) { if $0.receiver.wantsText, $0.isRunning { $0.receiver.text(text) } }
    }
    handler.ignorableWhitespace = handler.characters
    handler.cdataBlock = handler.characters
    handler.getEntity = { data, name in
      guard let name else { return nil }
      return XMLPushParser.with(data) { $0.entity(name) }
    }
    handler.serror = { data, error in
      guard let error, error.pointee.level == XML_ERR_FATAL else { return }
      XMLPushParser.with(data) { $0.hasFailed = true }
    }
    return handler
  }

  /// Calls `body` with the parser of a callback, which is alive for as long as libxml2 runs.
  private static func with<Result>(
    _ data: UnsafeMutableRawPointer?, _ body: (XMLPushParser) -> Result
  ) -> Result {
    guard let data else { preconditionFailure("libxml2 calls back with the data that it was given") }
    return Unmanaged<XMLPushParser>.fromOpaque(data)._withUnsafeGuaranteedRef(body)
  }

  /// What a reference to a named entity stands for. One that is not known is an error even where libxml2
  /// takes it for a mere warning: it would drop the text.
  private func entity(_ name: UnsafePointer<UInt8>) -> xmlEntityPtr? {
    let state = context.pointee.instate
    // While a declaration is read, libxml2 asks whether it has it already.
    if [XML_PARSER_DTD, XML_PARSER_ENTITY_DECL, XML_PARSER_ENTITY_VALUE].contains(state) { return nil }
    // Within attributes libxml2 takes only the first byte of what such an entity stands for.
    let isInAttribute = state == XML_PARSER_ATTRIBUTE_VALUE
    if let found = entities.find(name), !isInAttribute || found.pointee.length == 1 { return found }
    hasFailed = true
    return nil
  }
}
