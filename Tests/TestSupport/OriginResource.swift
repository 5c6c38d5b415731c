/// What an origin has under a path, and how it behaves there.
package struct OriginResource: Sendable {
  package enum Content: Sendable {
    case generated(TestBody)
    case bytes([UInt8])

    package var size: Int64 {
      switch self {
      case .generated(let body): body.size
      case .bytes(let bytes): Int64(bytes.count)
      }
    }

    func bytes(_ range: Range<Int64>) -> [UInt8] {
      switch self {
      case .generated(let body): body.bytes(range)
      case .bytes(let bytes): Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
      }
    }
  }

  package var content: Content
  package var mediaType: String
  /// With its quotes.
  package var etag: String?
  /// In seconds since 1970.
  package var lastModified: Int64?
  /// How it behaves, unless `plan` says otherwise.
  package var behaviour = OriginBehaviour()
  /// How the next requests are answered: each takes the first of these away.
  package var plan: [OriginBehaviour] = []

  /// An episode, with an entity tag of its seed and size.
  package init(_ body: TestBody, mediaType: String = "audio/mpeg") {
    content = .generated(body)
    self.mediaType = mediaType
    etag = "\"\(body.seed)-\(body.size)\""
  }

  package init(_ bytes: [UInt8], mediaType: String) {
    content = .bytes(bytes)
    self.mediaType = mediaType
  }

  package init(_ text: String, mediaType: String) { self.init(Array(text.utf8), mediaType: mediaType) }
}
