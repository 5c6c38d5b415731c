internal import Configuration
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// Asks Apple's search service, or another one that answers in its format.
/// Source: https://performance-partners.apple.com/search-api
struct AppleSearch: Sendable {
  static let name = "apple"
  private let address: String
  /// The user named its address: it may be on a private host.
  let isNamedByUser: Bool

  init(settings: Settings) {
    address = settings.searchURL ?? Settings.appleSearchURL
    isNamedByUser = settings.searchURL != nil
  }

  /// The user's own service is on a private network: so may be the feeds that others name.
  var isOnPrivateHost: Bool {
    isNamedByUser && WebAddress(address).host.map(PrivateHostName.isPrivate) == true
  }

  func address(asking query: SearchQuery, limit: Int, country: String) -> WebAddress {
    guard let number = query.appleID else {
      let language = query.language.map { [("lang", $0.replacing("-", with: "_"))] } ?? []
      return Self.address(
        address,
        [("term", query.terms), ("media", "podcast"), ("country", country), ("limit", String(limit))]
          + language)
    }
    return address(ofLookup: [number], country: country)
  }

  /// Where podcasts are asked for by their numbers at Apple: the lookup is beside the search.
  /// - Parameter numbers: 200 at most.
  func address(ofLookup numbers: [Int64], country: String) -> WebAddress {
    let place = address.prefix { $0 != "?" && $0 != "#" }
    let folder = place.hasSuffix("/search") ? place.dropLast("search".count) : place + "/"
    return Self.address(
      "\(folder)lookup\(address[place.endIndex...])",
      [("id", numbers.map(String.init).joined(separator: ",")), ("entity", "podcast"), ("country", country)])
  }

  /// Where a country's chart is: of a search service that the user has named, on its host.
  func address(ofChart country: String) -> WebAddress {
    let parts = isNamedByUser ? WebAddress(address).parts : nil
    let host = parts.map { "\($0.scheme)://\($0.authority)" } ?? "https://rss.marketingtools.apple.com"
    return WebAddress("\(host)/api/v2/\(country)/podcasts/top/100/podcasts.json")
  }

  /// - Parameters:
  ///   - base: may have parameters of its own.
  ///   - parameters: are added, percent-encoded as UTF-8 (RFC 3986 §2.5).
  private static func address(_ base: String, _ parameters: [(String, String)]) -> WebAddress {
    let whole = base.prefix { $0 != "#" }
    // A comma parts numbers.
    let fields = parameters.map { "\($0)=\(PercentEncoding.encode($1).replacing("%2C", with: ","))" }
      .joined(separator: "&")
    let isOpen = whole.hasSuffix("?") || whole.hasSuffix("&")
    return WebAddress(whole + (isOpen ? "" : whole.contains("?") ? "&" : "?") + fields)
  }

  /// - Throws: EPROTO where it is no answer; ENOENT where Apple has no feed of the number that was asked for.
  func podcasts(in body: [UInt8], for query: SearchQuery) throws(CatalogError) -> [FoundPodcast] {
    let answer = try AppleAnswer(body)
    if query.appleID == nil || !answer.podcasts.isEmpty { return answer.podcasts }
    guard let result = answer.results.first else {
      throw CatalogError(.ENOENT, "Apple has no podcast of that number")
    }
    let title = (result["collectionName"]?.text).map { "\"\(PrintableText.line($0))\"" } ?? "the podcast"
    throw CatalogError(.ENOENT, "\(title) is exclusive to Apple: it has no feed that others can read")
  }

  /// Counts a call of Apple's own service, for all processes of the user: "approximately 20 calls per minute".
  /// - Returns: nil where it may be made, else the seconds until one is free.
  func takeCall(now: Int64, in database: Database) throws -> Int64? {
    guard isLimited else { return nil }
    // A call in the future is of a clock that was set back since.
    try database.run("DELETE FROM search_call WHERE at <= ? OR at > ?", now - 60, now)
    let first = try database.number(
      "SELECT at FROM search_call ORDER BY at DESC LIMIT 1 OFFSET ?", Self.callsPerMinute - 1)
    if let first { return max(first + 60 - now, 1) }
    try database.run("INSERT INTO search_call (at) VALUES (?)", now)
    return nil
  }

  /// The service says that it was asked too often: nobody asks it for the next minute.
  func exhaustCalls(now: Int64, in database: Database) throws {
    guard isLimited else { return }
    for _ in 0..<Self.callsPerMinute { try database.run("INSERT INTO search_call (at) VALUES (?)", now) }
  }

  private static let callsPerMinute = 20

  private var isLimited: Bool {
    WebAddress(address).host.map { $0 == "itunes.apple.com" || $0.hasSuffix(".itunes.apple.com") } ?? false
  }
}

/// An answer in the format of Apple's search, which comes from anywhere.
package struct AppleAnswer {
  let results: [JSONValue]
  /// In its order; a result that makes no sense is left out.
  package let podcasts: [FoundPodcast]

  package init(_ body: [UInt8]) throws(CatalogError) {
    guard case .array(let results)? = (try? JSONValue(parsing: body))?["results"] else {
      throw CatalogError(.EPROTO, "the answer of the search service is not a list of podcasts")
    }
    self.results = results
    podcasts = results.compactMap(Self.podcast)
  }

  private static func podcast(_ result: JSONValue) -> FoundPodcast? {
    // An episode among the results names its podcast as collection.
    let title = result["collectionName"]?.text ?? result["trackName"]?.text
    guard var podcast = FoundPodcast(feed: result["feedUrl"]?.text, title: title) else { return nil }
    podcast.appleID = (result["collectionId"] ?? result["trackId"])?.text.flatMap { Int64($0) }
    podcast.author = result["artistName"]?.text
    podcast.link = (result["collectionViewUrl"] ?? result["trackViewUrl"])?.text.map { WebAddress($0) }
    podcast.imageURL = ["artworkUrl600", "artworkUrl100", "artworkUrl60"].lazy.compactMap { result[$0]?.text }
      .first.map { WebAddress($0) }
    // Names, or objects with a name in them.
    podcast.categories = (result["genres"]?.elements ?? []).compactMap { $0.text ?? $0["name"]?.text }
    if podcast.categories.isEmpty {
      podcast.categories = [result["primaryGenreName"]?.text].compactMap(\.self)
    }
    podcast.episodeCount = max(Int(clamping: result["trackCount"]?.wholeNumber ?? 0), 0)
    podcast.newest = result["releaseDate"]?.text.flatMap { DateText.seconds($0) }
    let words = ["explicit": true, "notExplicit": false, "cleaned": false]
    podcast.explicit = (result["collectionExplicitness"]?.text).flatMap { words[$0] }
    return podcast
  }
}
