internal import PodcastModel

/// Rewrites a document that is not well-formed as the well-formed one that was most likely meant: references
/// become numeric, what cannot be one becomes text; so do angle brackets that begin no tag; attributes get
/// quotes; elements are closed where they must end. Comments, processing instructions and document types are
/// left out, CDATA sections become text. Works on UTF-8 in pieces.
final class XMLRepairer {
  /// What the next bytes belong to.
  enum Mode {
    case prolog
    case content
    case section
    case comment
    case instruction
    case documentType
    case epilog
  }

  var mode = Mode.prolog
  var output: [UInt8] = []
  var repairs = XMLRepairs()
  var openElements = OpenElements()
  private var pending: [UInt8] = []
  private var bracketDepth = 0
  /// Bytes of the document before `pending`.
  private var dealtWith = 0
  /// Up to here in the document a quote was looked for that no longer comes: not to be looked for again and again.
  private var unquotedEnd = 0
  private var hasLookedForStart = false
  private let emit: (UnsafeRawBufferPointer) -> Void

  init(emit: @escaping (UnsafeRawBufferPointer) -> Void) { self.emit = emit }

  func consume(_ bytes: UnsafeRawBufferPointer) {
    pending.append(contentsOf: bytes)
    process(atEnd: false)
  }

  /// Closes what is still open.
  func finish() {
    process(atEnd: true)
    repairs.missingEndTags += openElements.count
    repairs.isWithinItem = ["item", "entry"].contains(where: openElements.contains)
    if !openElements.isEmpty {
      // The root, and the channel within it.
      let isWithin = mode != .content || openElements.count > 2 || repairs.isWithinItem
      repairs.ending = isWithin ? .withinElement : .betweenItems
    }
    while !openElements.isEmpty { closeLast() }
    flush()
  }

  private func process(atEnd: Bool) {
    var window = XMLWindow(bytes: pending, atEnd: atEnd)
    while step(&window) {
      if output.count > 65_536 { flush() }
    }
    pending.removeFirst(window.position)
    dealtWith += window.position
    flush()
  }

  private func flush() {
    output.withUnsafeBytes(emit)
    output.removeAll(keepingCapacity: true)
  }

  /// Deals with the next piece.
  /// - Returns: false where more bytes are needed, or all are done.
  private func step(_ window: inout XMLWindow) -> Bool {
    guard let byte = window.peek() else { return false }
    switch mode {
    case .prolog: return stepProlog(&window)
    case .content: return byte == UInt8(ascii: "<") ? stepMarkup(&window) : copyText(&window)
    case .section: return copySection(&window)
    case .comment: return skip(&window, through: "-->", then: openElements.isEmpty ? .prolog : .content)
    case .instruction: return skip(&window, through: ">", then: openElements.isEmpty ? .prolog : .content)
    case .documentType: return skipDocumentType(&window)
    case .epilog:
      window.position = window.bytes.count
      return false
    }
  }

  /// Before the first element: everything but markup is left out, and so is what a server's own messages
  /// put before the document.
  private func stepProlog(_ window: inout XMLWindow) -> Bool {
    let start = window.position
    if !hasLookedForStart {
      hasLookedForStart = true
      window.position = Self.likelyStart(window) ?? start
    }
    _ = window.skip { $0 != UInt8(ascii: "<") }
    repairs.skippedBytes += window.position - start
    if window.peek() == nil { return false }
    return stepMarkup(&window)
  }

  /// Where the document begins, if one that we read does so soon.
  private static func likelyStart(_ window: XMLWindow) -> Int? {
    var scan = window
    while scan.position - window.position < 16_384 {
      _ = scan.skip { $0 != UInt8(ascii: "<") }
      if scan.peek() == nil { return nil }
      for start: StaticString in [
        "<?xml", "<rss", "<feed", "<rdf:RDF", "<channel", "<opml", "<html", "<!DOCTYPE",
      ]
      where scan.starts(with: start) {
        return scan.position
      }
      scan.position += 1
    }
    return nil
  }

  /// At a "<".
  private func stepMarkup(_ window: inout XMLWindow) -> Bool {
    guard let next = window.peek(1) else {
      return window.atEnd ? markupAsText(&window) : false
    }
    switch next {
    case UInt8(ascii: "?"):
      mode = .instruction
      window.position += 2
      return true
    case UInt8(ascii: "!"): return stepDeclaration(&window)
    case UInt8(ascii: "/"): return copyEndTag(&window)
    case _ where XMLWindow.isNameStart(next): return copyStartTag(&window)
    default: return markupAsText(&window)
    }
  }

  /// At "<!".
  private func stepDeclaration(_ window: inout XMLWindow) -> Bool {
    if window.starts(with: "<!--") {
      mode = .comment
      window.position += 4
      return true
    }
    if window.starts(with: "<![CDATA[") {
      if openElements.isEmpty { return markupAsText(&window) }
      mode = .section
      window.position += 9
      return true
    }
    if !window.atEnd, window.remaining < 9 { return false }
    guard openElements.isEmpty else { return markupAsText(&window) }
    mode = .documentType
    bracketDepth = 0
    window.position += 2
    return true
  }

  /// Takes a "<" for what it says.
  func markupAsText(_ window: inout XMLWindow) -> Bool {
    window.position += 1
    if openElements.isEmpty {
      repairs.skippedBytes += 1
    } else {
      repairs.angleBrackets += 1
      output += "&#60;".utf8
    }
    return true
  }

  private func skip(_ window: inout XMLWindow, through end: StaticString, then next: Mode) -> Bool {
    if window.skip(through: end) {
      mode = next
      return true
    }
    return false
  }

  /// Up to the ">" that is not within the internal subset.
  private func skipDocumentType(_ window: inout XMLWindow) -> Bool {
    while let byte = window.peek() {
      window.position += 1
      switch byte {
      case UInt8(ascii: "["): bracketDepth += 1
      case UInt8(ascii: "]"): bracketDepth -= 1
      case UInt8(ascii: ">") where bracketDepth <= 0:
        mode = .prolog
        return true
      default: break
      }
    }
    return false
  }

  /// Whether quotes in the tag at the position may be closed within it.
  func mayBeQuoted(_ window: XMLWindow) -> Bool { dealtWith + window.position >= unquotedEnd }

  /// No end was found for the quotes of the tag at the position, however far it was looked for.
  func noteUnquoted(_ window: XMLWindow, looked length: Int) {
    unquotedEnd = max(unquotedEnd, dealtWith + window.position + length)
  }

  func closeLast() {
    output += "</".utf8
    output += openElements.lastName
    output.append(UInt8(ascii: ">"))
    openElements.removeLast()
  }
}
