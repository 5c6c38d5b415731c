internal import Glibc
internal import PosixKit

/// A feed as a long-lived publisher has it: 3 KB an episode, most of it show notes.
enum LargeFeed {
  static func write(to path: String, episodes: Int) throws {
    let file = try FileDescriptor(opening: path, O_WRONLY | O_CREAT | O_TRUNC)
    try append(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"
        xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:atom="http://www.w3.org/2005/Atom"
        xmlns:podcast="https://podcastindex.org/namespace/1.0">
      <channel><title>Harbour Lights</title><link>https://example.org/</link><language>en</language>
      <itunes:author>Ann</itunes:author><itunes:image href="https://example.org/cover.jpg"/>

      """, to: file)
    var text = ""
    for number in 0..<episodes {
      text += item(episodes - number)
      if text.utf8.count > 1 << 20 {
        try append(text, to: file)
        text = ""
      }
    }
    try append(text + "</channel></rss>\n", to: file)
  }

  private static func item(_ number: Int) -> String {
    let sentence =
      "The harbour lies quiet in the morning, and boat number \(number) goes out &amp; comes back. "
    let paragraph = "<p>Notes of episode \(number): <a href=\"https://example.org/\(number)\">the page</a>. "
    let day = number % 28 + 1
    return """
      <item><title>Episode \(number): A quiet harbour &amp; its lights</title>
      <guid isPermaLink="false">tag:example.org,2024:\(number)</guid><link>https://example.org/\(number)</link>
      <pubDate>Wed, \(day < 10 ? "0" : "")\(day) Jan 2014 10:00:00 +0000</pubDate>
      <itunes:duration>1:02:\(10 + number % 50)</itunes:duration><itunes:episode>\(number)</itunes:episode>
      <itunes:explicit>false</itunes:explicit><itunes:author>Ann</itunes:author>
      <itunes:image href="https://example.org/\(number).jpg"/>
      <description>\(String(repeating: sentence, count: 10))</description>
      <content:encoded><![CDATA[\(String(repeating: paragraph, count: 19))]]></content:encoded>
      <podcast:transcript url="https://example.org/\(number).vtt" type="text/vtt"/>
      <enclosure url="https://media.example.org/audio/\(number).mp3" length="\(20_000_000 + number)" type="audio/mpeg"/>
      </item>

      """
  }

  private static func append(_ text: String, to file: borrowing FileDescriptor) throws {
    let bytes = Array(text.utf8)
    try bytes.withUnsafeBytes { try file.append($0) }
  }
}
