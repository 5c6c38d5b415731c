internal import PodcastModel

/// The formats whose parts cannot be read alone (https://github.com/Podcastindex-org/podcast-namespace, transcripts).
enum MarkedTranscripts {
  /// Values of a document: each takes far more room than its text.
  private static let mostValues = 500_000

  static func json(_ bytes: [UInt8]) -> [Cue] {
    let values = bytes.count { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "{") }
    guard values <= mostValues, let document = try? JSONValue(parsing: bytes) else { return [] }
    let segments = document["segments"]?.elements ?? document.elements
    var cues: [Cue] = []
    for segment in segments {
      guard let text = (segment["body"] ?? segment["text"])?.text.map(TitleText.line), !text.isEmpty else {
        continue
      }
      let start = milliseconds(segment["startTime"] ?? segment["start"]) ?? cues.last?.end ?? 0
      let end = milliseconds(segment["endTime"] ?? segment["end"]) ?? start
      cues.append(
        Cue(start: start, end: end, speaker: segment["speaker"]?.text.map(TitleText.line), text: text))
    }
    return cues
  }

  private static func milliseconds(_ value: JSONValue?) -> Int? {
    guard let seconds = value?.text.flatMap(Double.init), seconds >= 0, seconds < 1e7 else { return nil }
    return Int(seconds * 1000)
  }

  /// Whether an HTML document names a speaker or a time.
  static func isMarked(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBufferPointer { bytes in
      var reader = HTMLReader(bytes, references: false)
      while let piece = reader.next() {
        guard case .start(let tag) = piece else { continue }
        if tag.name == "cite" || tag.name == "time" { return true }
        if tag.hidesContent { reader.skipContent(of: tag.name) }
      }
      return false
    }
  }

  static func html(_ bytes: [UInt8]) -> [Cue] {
    var reading = HTMLTranscript()
    bytes.withUnsafeBufferPointer { bytes in
      var reader = HTMLReader(bytes)
      while let piece = reader.next() { reading.take(piece, &reader) }
    }
    return reading.finished()
  }

  /// Lines. A time at a line's beginning counts from there on: "[1:02:03] Good evening", "(02:03)", "02:03 Ada:".
  static func text(_ bytes: ArraySlice<UInt8>) -> [Cue] {
    var cues: [Cue] = []
    var time = 0
    for line in bytes.split(whereSeparator: { $0 == 10 || $0 == 13 }) {
      var line = line.drop { $0 <= 0x20 }
      let hasBracket = line.first == UInt8(ascii: "[") || line.first == UInt8(ascii: "(")
      if let found = CueTime(hasBracket ? line.dropFirst() : line) {
        time = found.milliseconds
        line = line.dropFirst(found.length + (hasBracket ? 1 : 0))
        if hasBracket, let mark = line.first, mark == UInt8(ascii: "]") || mark == UInt8(ascii: ")") {
          line = line.dropFirst()
        }
      }
      let words = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace)
      // A paragraph takes minutes: each piece has a time of its own.
      for start in stride(from: 0, to: words.count, by: longest) {
        let piece = words[start..<min(start + longest, words.count)]
        let end = time + piece.count * Cue.word
        cues.append(Cue(start: time, end: end, text: piece.joined(separator: " ")))
        time = end
      }
    }
    return cues
  }

  /// Words of a cue that is made of a text without times.
  private static let longest = 20
}

/// Paragraphs of HTML with the last time and the last name before them.
private struct HTMLTranscript {
  private enum Field { case speaker, time, text }
  private var field = Field.text
  private var cues: [Cue] = []
  private var collected: [UInt8] = []
  private var speaker: String?
  private var time: Int?

  mutating func take(_ piece: HTMLReader.Piece, _ reader: inout HTMLReader) {
    switch piece {
    case .text: collected += reader.source
    case .reference(let text): collected += text.utf8
    case .comment, .section: break
    case .start(let tag):
      if tag.hidesContent || tag.name == "title" { return reader.skipContent(of: tag.name) }
      guard let field = Self.fields[tag.name] else { return part(tag.name) }
      end()
      self.field = field
    case .end(let name): if Self.fields[name] != nil { end() } else { part(name) }
    }
  }

  /// Other tags part words, but for those that stand within a line.
  private mutating func part(_ name: String) {
    if !["a", "b", "i", "u", "em", "strong", "span", "small", "mark", "sub", "sup"].contains(name) {
      collected.append(0x20)
    }
  }

  mutating func finished() -> [Cue] {
    end()
    // One ends where the next begins, or earlier: music or silence may come before that.
    for index in cues.indices.dropLast() where cues[index + 1].start > cues[index].start {
      cues[index].end = min(cues[index].end, cues[index + 1].start)
    }
    return cues
  }

  private mutating func end() {
    let text = TitleText.line(String(decoding: collected, as: UTF8.self))
    collected.removeAll(keepingCapacity: true)
    defer { field = .text }
    if text.isEmpty { return }
    switch field {
    case .speaker: speaker = text.hasSuffix(":") ? String(text.dropLast()) : text
    case .time: time = CueTime(text.utf8)?.milliseconds ?? time
    case .text:
      let start = time ?? cues.last?.end ?? 0
      let words = text.utf8.count { $0 == 0x20 } + 1
      cues.append(Cue(start: start, end: start + words * Cue.word, speaker: speaker, text: text))
      time = nil
    }
  }

  private static let fields: [String: Field] = [
    "cite": .speaker, "time": .time, "p": .text, "div": .text, "li": .text, "br": .text, "h1": .text,
    "h2": .text,
  ]
}
