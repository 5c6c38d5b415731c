internal import PodcastModel

extension OPMLDocument {
  /// OPML 2.0 in UTF-8, an outline a feed, without folders.
  /// - Parameter created: in seconds since 1970.
  package func text(created: Int64) -> String {
    var text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <opml version="2.0">
        <head>
          <title>\(Self.escaped(title ?? "Subscriptions"))</title>
          <dateCreated>\(CivilTime.rfc822(created))</dateCreated>
          <docs>http://opml.org/spec2.opml</docs>
        </head>
        <body>

      """
    for feed in feeds {
      let title = Self.escaped(feed.title ?? feed.url.shown)
      let url = Self.escaped(feed.url.forRequest)
      text += "    <outline type=\"rss\" text=\"\(title)\" title=\"\(title)\" xmlUrl=\"\(url)\""
      if let page = feed.htmlURL { text += " htmlUrl=\"\(Self.escaped(page.forRequest))\"" }
      text += "/>\n"
    }
    return text + "  </body>\n</opml>\n"
  }

  /// For text and attributes; what XML cannot hold is left out.
  private static func escaped(_ text: String) -> String {
    var output = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": output += "&amp;".unicodeScalars
      case "<": output += "&lt;".unicodeScalars
      case ">": output += "&gt;".unicodeScalars
      case "\"": output += "&quot;".unicodeScalars
      case "\n", "\r", "\t": output.append(" ")
      default: if XMLRepairer.isAllowed(scalar.value) { output.append(scalar) }
      }
    }
    return String(output)
  }
}
