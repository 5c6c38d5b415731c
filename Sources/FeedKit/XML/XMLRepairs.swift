/// What was changed in a document to make it well-formed XML: how often each.
struct XMLRepairs: Hashable {
  var skippedBytes = 0
  var ampersands = 0
  var angleBrackets = 0
  var controls = 0
  var wrongEncoding = 0
  var attributes = 0
  var missingEndTags = 0
  var strayEndTags = 0
  /// Whether elements were open when the document was at its end.
  var ending = ParsedFeed.Ending.whole
  /// One of them was an item.
  var isWithinItem = false

  /// One line for each kind.
  var warnings: [String] {
    var lines: [String] = []
    func add(_ count: Int, _ one: String, _ many: String) {
      if count > 0 { lines.append(count == 1 ? "repaired: \(one)" : "repaired: \(count) \(many)") }
    }
    add(skippedBytes, "a byte before the document", "bytes before the document")
    add(ampersands, "an ampersand that was not escaped", "ampersands that were not escaped")
    add(angleBrackets, "an angle bracket that was not escaped", "angle brackets that were not escaped")
    add(controls, "a control character", "control characters")
    add(wrongEncoding, "a byte in another encoding", "bytes in another encoding")
    add(attributes, "a malformed attribute", "malformed attributes")
    add(missingEndTags, "an element that was not closed", "elements that were not closed")
    add(strayEndTags, "an end tag without its element", "end tags without their elements")
    if ending != .whole { lines.append("the document breaks off: what came whole is read") }
    return lines
  }
}
