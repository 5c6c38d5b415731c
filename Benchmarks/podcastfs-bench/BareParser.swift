internal import CLibXML2
internal import PosixKit

/// libxml2's push parser with callbacks that do nothing: the limit of what can be had.
enum BareParser {
  static func parse(_ file: borrowing FileDescriptor) throws {
    var handler = xmlSAXHandler()
    handler.initialized = UInt32(XML_SAX2_MAGIC)
    handler.startElementNs = { _, _, _, _, _, _, _, _, _ in }
    handler.endElementNs = { _, _, _, _ in }
    handler.characters = { _, _, _ in }
    handler.cdataBlock = { _, _, _ in }
    guard let context = xmlCreatePushParserCtxt(&handler, nil, nil, 0, nil) else { return }
    defer { xmlFreeParserCtxt(context) }
    try Pieces.forEach(of: file) { piece in
      xmlParseChunk(context, piece.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(piece.count), 0)
    }
    xmlParseChunk(context, nil, 0, 1)
  }
}
