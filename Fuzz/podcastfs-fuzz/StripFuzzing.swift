internal import FeedKit
internal import PodcastModel

/// Any text is stripped in linear time, to a text that is hardly longer; what was stripped of a title stays as it
/// is, and pages name only feeds that may be asked for.
enum StripFuzzing {
  static func run(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    let html = String(decoding: bytes, as: UTF8.self)
    let text = PlainText.text(html)
    // A list's item is three bytes longer, a link four; a reference may stand for a character twice as long.
    precondition(text.utf8.count <= html.utf8.count * 2 + 16, text)
    precondition(text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x0A })
    precondition(!PlainText.oneLine(html).contains("\n"))
    var whole = html
    let words = whole.withUTF8 { PlainText.words($0) }
    precondition(words.utf8.count <= html.utf8.count * 2 + 16, words)
    let title = TitleText.plain(html)
    precondition(title.utf8.count <= html.utf8.count * 2 + 16, title)
    for address in FeedLinks.find(html: Array(bytes), baseURL: "https://h/a/b") {
      precondition(address.isWeb)
    }
    return 0
  }
}
