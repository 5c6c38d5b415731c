package import PodcastModel

/// What tells a dump on its server from the next one: no checksum of it is published.
package struct DumpIdentity: Hashable, Sendable {
  /// Without its secrets: all users may read the directory's file.
  package var url: String
  /// A strong one, with its quotes (RFC 9110 §8.8.3).
  package var entityTag: String?
  package var lastModified: String?
  package var length: Int64?

  package init(url: String, _ representation: Representation) {
    self.url = WebAddress(url).shown
    (entityTag, lastModified) = (representation.entityTag, representation.lastModified)
    length = representation.total
  }

  /// Whether it can be told from another dump of the same length.
  package var isCertain: Bool { entityTag != nil || lastModified != nil }

  /// Lines of text, for the directory's facts.
  package var text: String {
    [url, entityTag ?? "", lastModified ?? "", length.map(String.init) ?? ""].map(PrintableText.line)
      .joined(separator: "\n")
  }

  package init?(text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard lines.count == 4 else { return nil }
    url = WebAddress(lines[0]).shown
    entityTag = lines[1].isEmpty ? nil : lines[1]
    lastModified = lines[2].isEmpty ? nil : lines[2]
    length = Int64(lines[3])
  }
}
