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

extension DumpRecord: FieldCoded {
  mutating func code(_ fields: inout BinaryFields) throws(BinaryError) {
    try fields.code(&number, &feed, &title)
    try fields.code(&author, &language, &apple)
    try fields.code(&episodes, &newest, &oldest)
    try fields.code(&score, &isLate, &categories)
    guard isSound else { throw .malformed }
  }

  /// The process that writes it has read a stranger's file: what it says is not trusted.
  private var isSound: Bool {
    // Control characters would break a name or a terminal's line.
    let isText = ([feed, title, author, language] + categories).allSatisfy { text in
      text.utf8.count <= Self.longestAddress && !text.utf8.contains { $0 < 0x20 }
    }
    return isText && [number, apple, episodes, newest, oldest].allSatisfy { (0..<Self.most).contains($0) }
      && (feed.hasPrefix("http://") || feed.hasPrefix("https://")) && !title.isEmpty
      && (0...9).contains(score)
  }
}

// From the dump's columns, whose values are of any type and in any state.
extension DumpRecord {
  /// The longest title or author, in characters.
  private static let longestText = 500
  /// Bytes of the longest address: no text of another kind has more.
  private static let longestAddress = 2000
  /// Numbers are below.
  static let most: Int64 = 1_000_000_000_000

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
