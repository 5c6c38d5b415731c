/// The chapters of an episode (Podcasting 2.0, JSON Chapters 1.2; Podlove Simple Chapters 1.2).
package struct ChapterList: Hashable, Sendable {
  package struct Chapter: Hashable, Sendable {
    /// In milliseconds.
    package var start: Int64
    package var title: String?
    package var link: WebAddress?

    package init(start: Int64, title: String?, link: WebAddress?) {
      (self.start, self.title, self.link) = (start, title, link)
    }
  }

  package var chapters: [Chapter]
  package static let limit = 2000
  private static let longest = 8_640_000.0

  package init(_ chapters: [Chapter]) { self.chapters = chapters.sorted { $0.start < $1.start } }

  /// The document that `init(parsing:)` reads.
  package var text: String {
    let list = chapters.map { chapter in
      JSONValue.members([
        "startTime": Double(chapter.start) / 1000, "title": chapter.title, "url": chapter.link?.forRequest,
      ])
    }
    return JSONValue.object([("chapters", .array(list))]).compactText
  }

  /// - Returns: nil where the bytes are no such document. Chapters without a time, and those that a table of contents is not
  ///   to show, are left out.
  package init?(parsing bytes: [UInt8]) {
    guard case .array(let list)? = (try? JSONValue(parsing: bytes))?["chapters"] else { return nil }
    let found = list.prefix(Self.limit).compactMap { entry -> Chapter? in
      guard let seconds = entry["startTime"]?.decimal, (0...Self.longest).contains(seconds),
        entry["toc"]?.flag != false
      else { return nil }
      let link = entry["url"]?.text.map { WebAddress($0) }
      return Chapter(
        start: Int64((seconds * 1000).rounded()), title: entry["title"]?.text.map(TitleText.line),
        link: link?.isWeb == true ? link : nil)
    }
    self.init(found)
  }
}
