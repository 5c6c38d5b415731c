internal import FeedKit
internal import PodcastModel

/// A podcast of the dump, as the confined process hands it on.
struct DumpRecord: Hashable, Sendable {
  /// The podcast's number at Podcast Index.
  var number: Int64 = 0
  var feed = ""
  var title = ""
  var author = ""
  /// A language tag (RFC 5646) in lower case; empty where there is none.
  var language = ""
  /// Its number at Apple; 0 where it is not listed there.
  var apple: Int64 = 0
  var episodes: Int64 = 0
  /// Dates of the newest and the oldest episode, in seconds since 1970; 0 where they are not known.
  var newest: Int64 = 0
  var oldest: Int64 = 0
  /// 0 to 9.
  var score: Int64 = 0
  /// Whether Podcast Index calls it dead, or another podcast's duplicate.
  var isLate = false
  /// Names as the dump has them, in lower case.
  var categories: [String] = []
}

// One line of text for each podcast. The process that writes the lines has read a stranger's file, so they are not trusted:
// a reader of a few lines of code checks each field.
extension DumpRecord {
  private static let separator: UInt8 = 0x1F
  static let lineEnd: UInt8 = 0x0A
  private static let fieldCount = 12

  func write(to output: inout [UInt8]) {
    for number in [number, apple, episodes, newest, oldest, score, isLate ? 1 : 0] {
      output += String(number).utf8
      output.append(Self.separator)
    }
    for text in [feed, title, author, language] {
      output += text.utf8
      output.append(Self.separator)
    }
    output += categories.joined(separator: ",").utf8
    output.append(Self.lineEnd)
  }

  /// - Returns: nil for anything that `write` does not write.
  init?(line: UnsafeRawBufferPointer) {
    let fields = line.split(separator: Self.separator, omittingEmptySubsequences: false)
    guard fields.count == Self.fieldCount else { return nil }
    var numbers: [Int64] = []
    for field in fields.prefix(7) {
      guard let number = Self.number(field) else { return nil }
      numbers.append(number)
    }
    // Control characters would break a name or a terminal's line.
    guard !line.contains(where: { $0 < 0x20 && $0 != Self.separator }) else { return nil }
    let texts = fields.dropFirst(7).map { String(decoding: $0, as: UTF8.self) }
    (number, apple, episodes) = (numbers[0], numbers[1], numbers[2])
    (newest, oldest, score, isLate) = (numbers[3], numbers[4], numbers[5], numbers[6] != 0)
    (feed, title, author, language) = (texts[0], texts[1], texts[2], texts[3])
    categories = texts[4].split(separator: ",").map(String.init)
    guard feed.hasPrefix("http://") || feed.hasPrefix("https://"), !title.isEmpty, (0...9).contains(score)
    else {
      return nil
    }
  }

  private static func number(_ digits: Slice<UnsafeRawBufferPointer>) -> Int64? {
    guard (1...18).contains(digits.count) else { return nil }
    var value: Int64 = 0
    for byte in digits {
      guard (48...57).contains(byte) else { return nil }
      value = value * 10 + Int64(byte - 48)
    }
    return value
  }
}

// From the dump's columns, whose values are of any type and in any state.
extension DumpRecord {
  /// The longest title or author, in characters.
  private static let longestText = 500
  private static let longestAddress = 2000

  /// - Returns: nil where there is no title or no address of a feed.
  init?(feed: String, title: String) {
    let title = Self.text(title)
    guard !title.isEmpty, let feed = Self.address(feed) else { return nil }
    (self.feed, self.title) = (feed, title)
  }

  /// A text on one line, as a title of a feed is read.
  static func text(_ text: String) -> String {
    var wasBlank = true
    let isPlain = text.utf8.allSatisfy { byte in
      defer { wasBlank = byte == 0x20 }
      return byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "&") && byte != UInt8(ascii: "<")
        || byte == 0x20 && !wasBlank
    }
    if isPlain, !wasBlank || text.isEmpty, text.utf8.count <= longestText { return text }
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      scalars.append(scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) ? " " : scalar)
    }
    let line = PrintableText.line(TitleText.line(String(scalars)))
    return String(line.split(separator: " ").joined(separator: " ").prefix(longestText))
  }

  private static func address(_ text: String) -> String? {
    guard text.utf8.count <= longestAddress else { return nil }
    let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    if isPlain, WebAddress(text).isWeb, text.hasPrefix("http") { return text }
    guard let address = SubscriptionAddress.normalized(text)?.encoded else { return nil }
    return address.hasPrefix("http") && address.utf8.allSatisfy { $0 > 0x20 } ? address : nil
  }

  /// "de-at" for "de_AT"; empty where it is no language tag.
  static func language(_ text: String) -> String {
    let tag = text.lowercased().replacing("_", with: "-").split(separator: " ").first.map(String.init) ?? ""
    let primary = tag.prefix { $0 != "-" }.utf8
    guard (2...3).contains(primary.count), tag.utf8.count <= 35,
      tag.utf8.allSatisfy({ (97...122).contains($0) || (48...57).contains($0) || $0 == 45 }),
      primary.allSatisfy({ (97...122).contains($0) })
    else { return "" }
    return tag
  }
}
