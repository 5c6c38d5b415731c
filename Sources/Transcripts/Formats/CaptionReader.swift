internal import PodcastModel

/// Reads WebVTT and SubRip in one pass. A line of times begins a cue, an empty line ends it; comments, styles, regions and
/// numbers lie outside of cues.
enum CaptionReader {
  /// Whether a line of times is among the first ones.
  static func hasTimes(_ bytes: [UInt8]) -> Bool {
    var isFound = false
    forEachLine(bytes) { line in isFound = isFound || times(line) != nil }
    return isFound
  }

  static func cues(_ bytes: [UInt8]) -> [Cue] {
    var cues: [Cue] = []
    var open: Cue?
    // The last line of the open cue: it may be the number of the next one.
    var last = bytes[0..<0]
    var text: [UInt8] = []
    func end(dropsNumber: Bool = false) {
      if dropsNumber, !last.isEmpty, last.allSatisfy({ (48...57).contains($0) }) {
        text.removeLast(last.count)
      }
      if var cue = open, let said = CaptionText(text) {
        (cue.text, cue.speaker) = (said.text, said.speaker)
        cues.append(cue)
      }
      open = nil
      text.removeAll(keepingCapacity: true)
    }
    forEachLine(bytes) { line in
      if let (start, stop) = times(line) {
        end(dropsNumber: true)
        open = Cue(start: start, end: stop, text: "", place: line.startIndex)
        last = bytes[0..<0]
      } else if line.isEmpty {
        end()
      } else if open != nil {
        if !text.isEmpty { text.append(0x20) }
        text += line
        last = line
      }
    }
    end()
    return cues
  }

  /// `00:01.000 --> 00:04.000 position:10%`.
  private static func times(_ line: ArraySlice<UInt8>) -> (start: Int, end: Int)? {
    var rest = line.drop { $0 == 0x20 || $0 == 9 }
    guard let first = rest.first, (48...57).contains(first), let start = CueTime(rest) else { return nil }
    rest = rest.dropFirst(start.length).drop { $0 == 0x20 || $0 == 9 }
    guard rest.starts(with: "-->".utf8) else { return nil }
    rest = rest.dropFirst(3).drop { $0 == 0x20 || $0 == 9 }
    guard let end = CueTime(rest) else { return nil }
    return (start.milliseconds, end.milliseconds)
  }

  /// Calls `body` with each line; it may end with CR, LF or both.
  private static func forEachLine(_ bytes: [UInt8], _ body: (ArraySlice<UInt8>) -> Void) {
    var start = 0
    while start < bytes.count {
      var end = start
      while end < bytes.count, bytes[end] != 10, bytes[end] != 13 { end += 1 }
      body(bytes[start..<end])
      let isPair = end + 1 < bytes.count && bytes[end] == 13 && bytes[end + 1] == 10
      start = end + (isPair ? 2 : 1)
    }
  }
}

/// The text of a cue without its tags, and the voice that `<v Name>` names.
struct CaptionText {
  private(set) var text = ""
  private(set) var speaker: String?

  /// - Returns: nil where nothing is left.
  init?(_ bytes: [UInt8]) {
    let isMarked = bytes.contains {
      $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "{")
    }
    let plain = isMarked ? plain(bytes)[...] : bytes[...]
    // Blanks of Unicode at the ends do no harm.
    let start = plain.firstIndex { $0 > 0x20 } ?? plain.endIndex
    let end = plain.lastIndex { $0 > 0x20 }.map { $0 + 1 } ?? start
    text = String(decoding: plain[start..<end], as: UTF8.self)
    if text.isEmpty { return nil }
  }

  private mutating func plain(_ bytes: [UInt8]) -> [UInt8] {
    var output: [UInt8] = []
    var index = 0
    // From here on there is no end of one: each byte is looked at once.
    var hasNoMoreTags = false
    var hasNoMoreBraces = false
    while index < bytes.count {
      let rest = bytes[index...]
      switch bytes[index] {
      case UInt8(ascii: "<"):
        guard !hasNoMoreTags, index + 1 < bytes.count, Self.isTag(bytes[index + 1]) else { break }
        guard let close = rest.firstIndex(of: UInt8(ascii: ">")) else {
          hasNoMoreTags = true
          break
        }
        note(tag: bytes[(index + 1)..<close])
        index = close + 1
        continue
      case UInt8(ascii: "{") where rest.dropFirst().first == UInt8(ascii: "\\"):
        // SubRip's "{\an8}".
        guard !hasNoMoreBraces, let close = rest.firstIndex(of: UInt8(ascii: "}")) else {
          hasNoMoreBraces = true
          break
        }
        index = close + 1
        continue
      case UInt8(ascii: "&"):
        guard let found = HTMLEntity.resolve(rest) else { break }
        output += found.text.utf8
        index += found.length
        continue
      default: break
      }
      output.append(bytes[index])
      index += 1
    }
    return output
  }

  /// A name, an end tag, or a time.
  private static func isTag(_ byte: UInt8) -> Bool {
    HTMLReader.isLetter(byte) || byte == UInt8(ascii: "/") || (48...57).contains(byte)
  }

  private mutating func note(tag: ArraySlice<UInt8>) {
    guard speaker == nil, tag.first == UInt8(ascii: "v"),
      let blank = tag.firstIndex(where: { $0 == 0x20 || $0 == 9 }),
      blank == tag.startIndex + 1 || tag[tag.startIndex + 1] == UInt8(ascii: ".")
    else { return }
    speaker = TitleText.line(String(decoding: tag[(blank + 1)...], as: UTF8.self))
  }
}
