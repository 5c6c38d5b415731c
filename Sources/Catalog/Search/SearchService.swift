internal import Configuration
internal import PodcastModel
internal import PosixKit

/// A directory of podcasts that can be asked over the network.
protocol SearchService: Sendable {
  /// As in `source:` and in a search's attributes.
  var name: String { get }
  /// What it may be asked in any minute, by all processes of the user together; nil for no bound.
  var callsPerMinute: Int? { get }
  /// Whether the user named its address, so that it may be on a private host.
  var isNamedByUser: Bool { get }
  /// Asks for at most `limit` podcasts.
  func question(_ query: SearchQuery, limit: Int, country: String) -> ServiceQuestion
  /// What an answer holds, in its order; a result that makes no sense is left out.
  /// - Throws: `CatalogError` (EPROTO) where it is no answer at all.
  func decode(_ answer: JSONValue) throws(CatalogError) -> [FoundPodcast]
}

struct ServiceQuestion: Sendable {
  var url: String
  var headers: [(name: String, value: String)] = []

  /// - Parameters:
  ///   - base: may have parameters of its own.
  ///   - parameters: are added, percent-encoded as UTF-8 (RFC 3986 §2.5).
  init(_ base: String, _ parameters: [(String, String)], headers: [(name: String, value: String)] = []) {
    let whole = base.prefix { $0 != "#" }
    url = String(whole)
    var separator = whole.contains("?") ? (whole.hasSuffix("?") || whole.hasSuffix("&") ? "" : "&") : "?"
    for (name, value) in parameters {
      url += separator + name + "=" + PercentEncoding.encode(value)
      separator = "&"
    }
    self.headers = headers
  }
}

extension SearchService {
  /// What the bytes of an answer hold.
  func podcasts(in body: [UInt8]) throws(CatalogError) -> [FoundPodcast] {
    guard let json = try? JSONValue(parsing: body) else { throw notAnAnswer }
    return try decode(json)
  }

  var notAnAnswer: CatalogError { CatalogError(.EPROTO, "the answer of \(name) is no list of podcasts") }
}

/// Which services there are.
struct SearchServices: Sendable {
  private let apple: AppleSearch
  /// nil without a key.
  private let podcastIndex: PodcastIndexSearch?
  private let fyyd: FyydSearch

  init(settings: Settings) {
    apple = AppleSearch(address: settings.searchURL)
    fyyd = FyydSearch(address: settings.fyydURL)
    if let key = settings.podcastIndexKey, let secret = settings.podcastIndexSecret {
      podcastIndex = PodcastIndexSearch(key: key, secret: secret, address: settings.podcastIndexURL)
    } else {
      podcastIndex = nil
    }
  }

  /// Those that a query is put to.
  /// - Throws: `CatalogError` (EINVAL) for `source:podcastindex` without a key.
  func services(for query: SearchQuery) throws(CatalogError) -> [any SearchService] {
    if podcastIndex == nil, query.sources.contains("podcastindex") {
      throw CatalogError(
        .EINVAL, "Podcast Index needs podcastindex_key and podcastindex_secret in the settings")
    }
    if query.appleID != nil {
      return query.sources.isEmpty || query.sources.contains(apple.name) ? [AppleLookup(of: apple)] : []
    }
    let all: [(any SearchService)?] = [apple, podcastIndex, fyyd]
    return all.compactMap(\.self).filter { service in
      query.sources.contains("all") || query.sources.contains(service.name)
        || query.sources.isEmpty && service.name != fyyd.name
    }
  }
}

/// Reads answers of search services, which come from anywhere.
package enum ServiceAnswers {
  /// What an answer holds, in its order; a result that makes no sense is left out.
  /// - Parameter source: the service whose format it has, as in `source:`.
  /// - Throws: `CatalogError` (EPROTO) where it is no answer of that service, EINVAL for no service.
  package static func podcasts(in body: [UInt8], of source: String) throws(CatalogError) -> [FoundPodcast] {
    let services: [any SearchService] = [
      AppleSearch(address: nil), PodcastIndexSearch(key: "", secret: ""), FyydSearch(),
    ]
    guard let service = services.first(where: { $0.name == source }) else {
      throw CatalogError(.EINVAL, "no service of that name: \(source)")
    }
    return try service.podcasts(in: body)
  }
}
