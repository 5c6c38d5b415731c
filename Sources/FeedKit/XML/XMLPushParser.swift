internal import CLibXML2
internal import PodcastModel

/// libxml2's push parser in its SAX2 form, for UTF-8. It builds no tree, loads nothing, and replaces only
/// references to characters and to entities that hold plain text, so that nothing can expand without bound;
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
  private var entities = XMLEntityTable()
  /// The first error that makes the document not well-formed.
  private(set) var failure: XMLFailure?

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
  var isRunning: Bool { mode == .recovering || failure == nil }

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
    if failure == nil, context.pointee.wellFormed == 0 {
      failure = XMLFailure(line: 0, message: "not well-formed")
    }
  }

  private static let initializeOnce: Void = xmlInitParser()

  private static func makeHandler() -> xmlSAXHandler {
    var handler = xmlSAXHandler()
    handler.initialized = UInt32(XML_SAX2_MAGIC)
    handler.startElementNs = { data, name, prefix, namespace, _, _, count, _, attributes in
      guard let name, let parser = XMLPushParser.from(data), parser.isRunning else { return }
      parser.receiver.startElement(
        XMLElement(
          localName: name, prefix: prefix, namespace: namespace,
          attributes: attributes.map { UnsafePointer($0) }, attributeCount: Int(count)))
    }
    handler.endElementNs = { data, _, _, _ in
      guard let parser = XMLPushParser.from(data), parser.isRunning else { return }
      parser.receiver.endElement()
    }
    handler.characters = { data, bytes, count in
      guard let parser = XMLPushParser.from(data), parser.isRunning else { return }
      parser.receiver.text(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }
    handler.ignorableWhitespace = handler.characters
    handler.cdataBlock = handler.characters
    handler.entityDecl = { data, name, type, _, _, content in
      guard let name, let content, type == Int32(XML_INTERNAL_GENERAL_ENTITY.rawValue) else { return }
      XMLPushParser.from(data)?.entities.declare(name, content)
    }
    handler.getEntity = { data, name in
      guard let name, let parser = XMLPushParser.from(data) else { return nil }
      return parser.entity(name)
    }
    handler.serror = { data, error in
      guard let error, error.pointee.level == XML_ERR_FATAL else { return }
      guard let parser = XMLPushParser.from(data), parser.failure == nil else { return }
      let message = error.pointee.message.map { String(cString: $0) } ?? "not well-formed"
      parser.failure = XMLFailure(line: Int(error.pointee.line), message: FeedText.oneLine(message))
    }
    return handler
  }

  private static func from(_ data: UnsafeMutableRawPointer?) -> XMLPushParser? {
    data.map { Unmanaged<XMLPushParser>.fromOpaque($0).takeUnretainedValue() }
  }

  /// What a reference to a named entity stands for. One that is not known is an error even where libxml2
  /// takes it for a mere warning: it would drop the text.
  private func entity(_ name: UnsafePointer<UInt8>) -> xmlEntityPtr? {
    let state = context.pointee.instate
    // While a declaration is read, libxml2 asks whether it has it already.
    if state == XML_PARSER_DTD || state == XML_PARSER_ENTITY_DECL { return nil }
    // Within attributes libxml2 takes only the first byte of what such an entity stands for.
    let isInAttribute = state == XML_PARSER_ATTRIBUTE_VALUE
    if let found = entities.find(name), !isInAttribute || found.pointee.length == 1 { return found }
    if failure == nil {
      failure = XMLFailure(
        line: Int(context.pointee.input?.pointee.line ?? 0),
        message: "unknown entity \(String(cString: name))")
    }
    return nil
  }
}

/// Why a document is not well-formed XML.
struct XMLFailure: Hashable, Sendable {
  /// Counted from 1; 0 where it is not known.
  var line: Int
  var message: String
}
