extension XMLRepairer {
  /// A tag that is longer is text.
  private static let longestTag = 1 << 18

  /// At "</": copies the end tag with those of the elements that it ends too, or leaves it out.
  func copyEndTag(_ window: inout XMLWindow) -> Bool {
    var scan = window
    scan.position += 2
    _ = scan.skip(while: XMLWindow.isBlank)
    let start = scan.position
    _ = scan.skip(while: XMLWindow.isName)
    let name = scan.bytes[start..<scan.position]
    _ = scan.skip { $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "<") }
    if scan.peek() == nil, !window.atEnd, scan.position - window.position < Self.longestTag { return false }
    if name.isEmpty { return markupAsText(&window) }
    if scan.peek() == UInt8(ascii: ">") { scan.position += 1 }
    window = scan
    guard let depth = openElements.depth(of: name) else {
      repairs.strayEndTags += 1
      return true
    }
    close(depth)
    repairs.missingEndTags += depth - 1
    if openElements.isEmpty { mode = .epilog }
    return true
  }

  /// At a "<" and a letter: copies the start tag with its attributes in order.
  func copyStartTag(_ window: inout XMLWindow) -> Bool {
    let bytes = window.bytes
    let start = window.position + 1
    let quotedEnd = mayBeQuoted(window) ? Self.endOfTag(bytes, start, quotes: true) : nil
    guard let end = quotedEnd ?? lateEnd(of: window) else {
      if !window.atEnd, window.remaining < Self.longestTag { return false }
      return markupAsText(&window)
    }
    var nameEnd = start
    while nameEnd < end, XMLWindow.isName(bytes[nameEnd]) { nameEnd += 1 }
    let name = bytes[start..<nameEnd]
    let isClosed = end > nameEnd && bytes[end - 1] == UInt8(ascii: "/")
    closeBefore(name)
    window.position = end < bytes.count && bytes[end] == UInt8(ascii: ">") ? end + 1 : end
    mode = .content
    guard openElements.count < OpenElements.depthLimit else { return true }
    output.append(UInt8(ascii: "<"))
    output += name
    copyAttributes(bytes[nameEnd..<(isClosed ? end - 1 : end)])
    if isClosed || Self.isVoid(name) {
      output += "/>".utf8
      if openElements.isEmpty { mode = .epilog }
    } else {
      output.append(UInt8(ascii: ">"))
      openElements.append(name)
    }
    return true
  }

  /// Where a tag ends in which a quote is missing: nothing more will come that could close it.
  private func lateEnd(of window: XMLWindow) -> Int? {
    guard window.atEnd || window.remaining >= Self.longestTag || !mayBeQuoted(window) else { return nil }
    if mayBeQuoted(window) { noteUnquoted(window, looked: min(window.remaining, Self.longestTag)) }
    return Self.endOfTag(window.bytes, window.position + 1, quotes: false)
  }

  /// The place of the ">" that ends a tag, or of the "<" that follows one without it. Where the next element of the name
  /// comes amid quotes, they were not closed.
  private static func endOfTag(_ bytes: [UInt8], _ start: Int, quotes: Bool) -> Int? {
    var quote: UInt8 = 0
    var quoteStart = start
    var previous: UInt8 = 0
    let limit = min(bytes.count, start + longestTag)
    var index = start
    while index < limit {
      let byte = bytes[index]
      if quote != 0 {
        if byte == quote {
          quote = 0
        } else if byte == UInt8(ascii: "<"), isSameTag(bytes, index + 1, as: start) {
          return bytes[quoteStart..<index].firstIndex(of: UInt8(ascii: ">")) ?? index
        }
      } else if byte == UInt8(ascii: ">") || byte == UInt8(ascii: "<") {
        return index
      } else if quotes, previous == UInt8(ascii: "="), byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")
      {
        (quote, quoteStart) = (byte, index)
      }
      if !XMLWindow.isBlank(byte) { previous = byte }
      index += 1
    }
    return nil
  }

  /// Whether a tag, or an end tag, whose name would begin at `start` has the name that begins at `other`.
  private static func isSameTag(_ bytes: [UInt8], _ start: Int, as other: Int) -> Bool {
    var index = start
    if index < bytes.count, bytes[index] == UInt8(ascii: "/") { index += 1 }
    var place = other
    while place < bytes.count, XMLWindow.isName(bytes[place]) {
      guard index < bytes.count, bytes[index] == bytes[place] else { return false }
      (index, place) = (index + 1, place + 1)
    }
    return index < bytes.count && !XMLWindow.isName(bytes[index])
  }

  /// Ends what cannot hold an element of this name: items stand in a channel or beside it, in nothing else.
  private func closeBefore(_ name: ArraySlice<UInt8>) {
    guard name.elementsEqual("item".utf8) || name.elementsEqual("entry".utf8) else { return }
    let containers = ["channel", "feed", "rss", "rdf:RDF"].compactMap {
      openElements.depth(of: Array($0.utf8)[...])
    }
    guard let depth = containers.min(), depth > 1 else { return }
    repairs.missingEndTags += depth - 1
    close(depth - 1)
  }

  private func close(_ depth: Int) {
    for _ in 0..<depth { closeLast() }
  }

  /// Elements of HTML that have no end tag, where show notes stand in a feed unescaped.
  private static func isVoid(_ name: ArraySlice<UInt8>) -> Bool {
    guard name.count <= 5 else { return false }
    let word = String(decoding: name, as: UTF8.self).lowercased()
    return ["br", "hr", "img", "wbr", "input"].contains(word)
  }

  /// Writes the attributes again: with quotes, without those that are doubled or have no valid name.
  private func copyAttributes(_ bytes: ArraySlice<UInt8>) {
    var seen: [ArraySlice<UInt8>] = []
    var window = XMLWindow(bytes: Array(bytes), atEnd: true)
    // Until one value has no end so: else each would be looked for up to the tag's.
    var mayHoldQuotes = true
    while true {
      _ = window.skip { XMLWindow.isBlank($0) || $0 == UInt8(ascii: "/") }
      guard window.peek() != nil else { return }
      let start = window.position
      _ = window.skip { !XMLWindow.isBlank($0) && $0 != UInt8(ascii: "=") }
      let name = window.bytes[start..<window.position]
      _ = window.skip(while: XMLWindow.isBlank)
      var value: ArraySlice<UInt8> = []
      var isQuoted = false
      if window.peek() == UInt8(ascii: "=") {
        window.position += 1
        (value, isQuoted) = Self.attributeValue(&window, &mayHoldQuotes)
      }
      let isGood =
        name.first.map(XMLWindow.isNameStart) == true && name.allSatisfy(XMLWindow.isName)
        && name.last != UInt8(ascii: ":") && !seen.contains { $0.elementsEqual(name) }
      if !isGood || !isQuoted { repairs.attributes += 1 }
      guard isGood, seen.count < 100 else { continue }
      seen.append(name)
      output.append(UInt8(ascii: " "))
      output += name
      output += "=\"".utf8
      copyAttributeValue(value)
      output.append(UInt8(ascii: "\""))
    }
  }

  /// Whether what follows the quote at the position is the end of the tag, or another attribute with its value.
  private static func endsValue(_ window: XMLWindow) -> Bool {
    var rest = window
    rest.position += 1
    let blanks = rest.skip { XMLWindow.isBlank($0) || $0 == UInt8(ascii: "/") }
    guard let next = rest.peek() else { return true }
    guard blanks > 0, XMLWindow.isNameStart(next) else { return false }
    _ = rest.skip(while: XMLWindow.isName)
    _ = rest.skip(while: XMLWindow.isBlank)
    return rest.peek() == UInt8(ascii: "=")
  }

  /// - Parameter mayHoldQuotes: whether a quote within the value is looked past; set to false where that fails.
  private static func attributeValue(
    _ window: inout XMLWindow, _ mayHoldQuotes: inout Bool
  ) -> (ArraySlice<UInt8>, isQuoted: Bool) {
    _ = window.skip(while: XMLWindow.isBlank)
    if let quote = window.peek(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
      window.position += 1
      let start = window.position
      _ = window.skip { $0 != quote }
      // A quote ends the value where the tag goes on as tags do; else it belongs to it.
      while mayHoldQuotes, window.peek() != nil, !Self.endsValue(window) {
        window.position += 1
        _ = window.skip { $0 != quote }
      }
      if mayHoldQuotes, window.peek() == nil {
        mayHoldQuotes = false
        window.position = start
        _ = window.skip { $0 != quote }
      }
      let value = window.bytes[start..<window.position]
      let isQuoted = window.peek() != nil
      if isQuoted { window.position += 1 }
      return (value, isQuoted)
    }
    let start = window.position
    _ = window.skip { !XMLWindow.isBlank($0) }
    return (window.bytes[start..<window.position], false)
  }

  private func copyAttributeValue(_ value: ArraySlice<UInt8>) {
    var window = XMLWindow(bytes: Array(value), atEnd: true)
    while let byte = window.peek() {
      switch byte {
      case UInt8(ascii: "&"): _ = copyReference(&window)
      case UInt8(ascii: "<"):
        output += "&#60;".utf8
        window.position += 1
      case UInt8(ascii: "\""):
        output += "&#34;".utf8
        window.position += 1
      default: _ = copyCharacter(&window)
      }
    }
  }
}
