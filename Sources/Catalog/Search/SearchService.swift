internal import PodcastModel
internal import PosixKit

/// A directory of podcasts that can be asked over the network.
protocol SearchService: Sendable {
  /// As in `source:` and in a search's attributes.
  var name: String { get }
  /// What it may be asked in any minute, by all processes of the user together; nil for no bound.
  var callsPerMinute: Int? { get }
  /// Whether the user named it himself, so that it may be on a private host.
  var isNamedByUser: Bool { get }
  /// The address to ask, complete, and further header lines.
  func question(_ query: SearchQuery, limit: Int, country: String) -> ServiceQuestion
  /// What an answer holds, in its order; a result that makes no sense is left out.
  /// - Throws: `CatalogError` (EPROTO) where it is no answer at all.
  func decode(_ answer: JSONValue) throws(CatalogError) -> [FoundPodcast]
}

struct ServiceQuestion: Sendable {
  var url: String
  var headers: [(name: String, value: String)] = []
}

extension SearchService {
  /// An address with parameters added, percent-encoded as UTF-8 (RFC 3986 §2.5); the address may have some of
  /// its own.
  static func address(_ base: String, _ parameters: [(String, String)]) -> String {
    let whole = base.prefix { $0 != "#" }
    var text = String(whole)
    var separator = whole.contains("?") ? (whole.hasSuffix("?") || whole.hasSuffix("&") ? "" : "&") : "?"
    for (name, value) in parameters {
      text += separator + name + "=" + PercentEncoding.encode(value)
      separator = "&"
    }
    return text
  }

  /// What the bytes of an answer hold.
  func podcasts(in body: [UInt8]) throws(CatalogError) -> [FoundPodcast] {
    guard let json = try? JSONValue(parsing: body) else { throw notAnAnswer }
    return try decode(json)
  }

  var notAnAnswer: CatalogError { CatalogError(.EPROTO, "the answer of \(name) is no list of podcasts") }
}
