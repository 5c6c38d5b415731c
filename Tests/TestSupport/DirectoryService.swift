internal import HTTPServerKit
internal import PodcastModel
internal import PosixKit

/// A podcast directory in the format of Apple's search service, on an origin: `/search?term=…`.
package final class DirectoryService: Sendable {
  /// A podcast that it lists.
  package struct Listing: Sendable {
    package var id: Int64
    package var title: String
    package var author: String
    /// nil: a result without a feed.
    package var feedURL: String?
    package var imageURL: String?
    package var genres: [String] = ["Leisure", "Podcasts"]
    package var episodes = 1
    /// The result's text in place of all of this: for odd results.
    package var json: String?

    package init(_ title: String, author: String = "Nobody", feedURL: String?, id: Int64 = 1) {
      self.title = title
      self.author = author
      self.feedURL = feedURL
      self.id = id
    }
  }

  private struct State {
    var listings: [Listing] = []
    var behaviour = OriginBehaviour()
    var answer: String?
    var queries: [[String: String]] = []
  }

  private let state = Monitor(State())
  /// What to give as `search_url`.
  package let url: String

  /// Adds the service to an origin.
  /// - Parameter address: what a proxy is asked for, where the origin is one; nil for an address of the origin.
  package init(on origin: OriginServer, for address: String? = nil) {
    url = address ?? origin.url("/search")
    let state = state
    origin.handle(address ?? "/search") { request, writer throws(ResponseWriter.Ended) in
      let fields = Dictionary(request.query.map { ($0.name, $0.value) }) { $1 }
      let (behaviour, answer) = state.withLockNotifying { state in
        state.queries.append(fields)
        return (state.behaviour, state.answer ?? Self.answer(fields, state.listings))
      }
      let resource = OriginResource(answer, mediaType: "text/javascript; charset=utf-8")
      try OriginAnswer(request: request, resource: resource, behaviour: behaviour, number: 0).send(writer)
    }
  }

  /// Replaces what it lists.
  package func list(_ listings: [Listing]) { state.withLock { $0.listings = listings } }

  /// Sets how it answers: throttled, slow, cut.
  package func behave(_ behaviour: OriginBehaviour) { state.withLock { $0.behaviour = behaviour } }

  /// Sets the text of all answers; nil for proper ones.
  package func answer(_ text: String?) { state.withLock { $0.answer = text } }

  /// The fields of the queries so far.
  package var queries: [[String: String]] { state.withLock { $0.queries } }

  /// All listings whose title or author holds each word of the term, as many as the limit says.
  private static func answer(_ fields: [String: String], _ listings: [Listing]) -> String {
    let words = (fields["term"] ?? "").lowercased().split(separator: " ")
    let hits = listings.filter { listing in
      let text = (listing.title + " " + listing.author).lowercased()
      return words.allSatisfy { text.contains($0) }
    }.prefix(Int(fields["limit"] ?? "") ?? 50)
    let results = hits.map { $0.json ?? $0.result.compactText }.joined(separator: ",\n")
    return "\n\n\n{\n \"resultCount\":\(hits.count),\n \"results\": [\n\(results)]\n}\n\n\n"
  }
}

extension DirectoryService.Listing {
  fileprivate var result: JSONValue {
    var members: [(String, JSONValue)] = [
      ("wrapperType", "track"), ("kind", "podcast"), ("collectionId", .integer(id)),
      ("trackId", .integer(id)),
      ("artistName", .string(author)), ("collectionName", .string(title)), ("trackName", .string(title)),
    ]
    if let imageURL { members.append(("artworkUrl600", .string(imageURL))) }
    if let feedURL { members.append(("feedUrl", .string(feedURL))) }
    members += [
      ("releaseDate", "2024-01-03T10:00:00Z"), ("collectionExplicitness", "notExplicit"),
      ("trackCount", .integer(Int64(episodes))), ("country", "USA"), ("primaryGenreName", "Leisure"),
      ("genres", .strings(genres)),
    ]
    return .object(members)
  }
}
