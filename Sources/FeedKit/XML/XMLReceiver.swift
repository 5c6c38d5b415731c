/// Is told what an XML document holds, in its order. A base class rather than a protocol, so that the
/// parser's calls need no existential.
class XMLReceiver {
  /// Whether text is of use now: there is no call for it else.
  @exclusivity(unchecked) final var wantsText = true
  /// Bytes of the document that have come: in whole pieces of one size, whatever the caller's were.
  @exclusivity(unchecked) final var documentBytes = 0

  /// Forget all that came: the document is read again from its start, repaired.
  func restart() {}
  func startElement(_ element: XMLElement) {}
  func endElement() {}
  /// A piece of text, valid only during the call.
  func text(_ bytes: UnsafeBufferPointer<UInt8>) {}
}
