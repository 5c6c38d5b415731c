internal import Glibc
internal import HTTPKit
internal import PodcastModel
internal import PosixKit

/// What tells a dump on its server from the next one: no checksum of it is published.
package struct DumpIdentity: Hashable, Sendable {
  package var url: String
  /// A strong one, with its quotes (RFC 9110 §8.8.3).
  package var entityTag: String?
  package var lastModified: String?
  package var length: Int64?

  /// - Parameter head: of the answer with the whole dump, or with a part of it.
  init(url: String, _ head: HTTPResponseHead) {
    self.url = url
    entityTag = head.value("etag").flatMap { $0.hasPrefix("\"") ? $0 : nil }
    lastModified = head.value("last-modified")
    length = head.status == 206 ? head.contentRange?.total : head.contentLength
  }

  /// What a request for the rest names, so that no two dumps are mixed (RFC 9110 §13.1.5).
  var validator: String? { entityTag ?? lastModified }

  /// Lines of text, for a file and for the directory's facts.
  package var text: String {
    [url, entityTag ?? "", lastModified ?? "", length.map(String.init) ?? ""].map(PrintableText.line)
      .joined(separator: "\n")
  }

  package init?(text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard lines.count == 4 else { return nil }
    url = lines[0]
    entityTag = lines[1].isEmpty ? nil : lines[1]
    lastModified = lines[2].isEmpty ? nil : lines[2]
    length = Int64(lines[3])
  }
}

/// The part of a dump that has come, beside it what it is a part of. It outlives the process.
struct DumpPart {
  let path: String
  private var identityPath: String { path + ".identity" }

  /// What it is a part of, and how many bytes have come; nil where nothing has that could be gone on with.
  func found(of url: String) -> (identity: DumpIdentity, bytes: Int64)? {
    guard let text = try? Directories.read(identityPath, limit: 8192),
      let identity = DumpIdentity(text: String(decoding: text, as: UTF8.self)),
      identity.url == url, identity.validator != nil, let length = identity.length,
      let size = try? Int64(FileDescriptor(openingRegular: path, O_RDONLY).status().st_size),
      (1...length).contains(size)
    else { return nil }
    return (identity, size)
  }

  /// Begins a new one.
  func begin(_ identity: DumpIdentity) throws {
    try Directories.replace(identityPath, with: Array(identity.text.utf8))
  }

  func remove() {
    unlink(path)
    unlink(identityPath)
  }
}
