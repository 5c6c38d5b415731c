internal import PodcastModel

/// Files that hold one address: links of desktops (`.desktop`, Desktop Entry Specification), shortcuts of Windows
/// (`.url`) and macOS (`.webloc`, a property list, as XML or binary).
enum LinkFile {
  /// Longer files are no links, in bytes.
  private static let byteLimit = 64 << 10
  private static let groups: Set<String> = ["[desktop entry]", "[internetshortcut]"]

  /// - Returns: nil where the document is no such file; empty where the file has no address.
  static func address(in document: XMLDocument) -> String? {
    guard document.bytes.count <= byteLimit else { return nil }
    if document.bytes.starts(with: "bplist".utf8) { return address(inBinary: Array(document.bytes)) }
    return document.withText { bytes in
      let text = FeedText.string(bytes)
      return text.contains("<plist") ? address(inPropertyList: text) : address(inEntry: text)
    }
  }

  private static func address(inEntry text: String) -> String? {
    var isLink = false
    var isInside = false
    for line in text.split(whereSeparator: \.isNewline) {
      let line = FeedText.oneLine(String(line))
      if line.hasPrefix("[") {
        isInside = groups.contains(line.lowercased())
        isLink = isLink || isInside
      } else if isInside, let equals = line.firstIndex(of: "=") {
        // KDE writes "URL[$e]".
        let key = line[..<equals].prefix { $0 != "[" && $0 != " " }
        if key.lowercased() == "url" { return FeedText.oneLine(String(line[line.index(after: equals)...])) }
      }
    }
    return isLink ? "" : nil
  }

  private static func address(inPropertyList text: String) -> String {
    guard let key = text.firstRange(of: "<key>URL</key>"),
      let start = text[key.upperBound...].firstRange(of: "<string>")
    else { return "" }
    return FeedText.oneLine(TitleText.plain(String(text[start.upperBound...].prefix { $0 != "<" })))
  }

  /// The list has one key, whose value follows the key.
  private static func address(inBinary bytes: [UInt8]) -> String {
    // A string of three ASCII characters, then another string.
    let key = [UInt8(0x53)] + Array("URL".utf8)
    guard let start = bytes.indices.first(where: { bytes[$0...].starts(with: key) }) else { return "" }
    var rest = bytes[(start + key.count)...]
    guard let marker = rest.popFirst(), marker >> 4 == 5 else { return "" }
    var length = Int(marker & 15)
    if length == 15 {
      // A longer one: an integer of one or two bytes says how long it is.
      guard let size = rest.popFirst(), size == 0x10 || size == 0x11 else { return "" }
      length = 0
      for _ in 0...(size & 1) { length = length << 8 | Int(rest.popFirst() ?? 0) }
    }
    return String(decoding: rest.prefix(length), as: UTF8.self)
  }
}
