internal import Directory
internal import HTTPKit
package import PodcastModel
package import PosixKit

/// Apple's charts: the hundred podcasts that most people in a country listen to (https://rss.marketingtools.apple.com).
package enum AppleCharts {
  /// The directory in `Discover/` that has one for each country.
  package static let folder = "Top"
  /// Seconds for which a chart is not asked for again: Apple makes one a day.
  static let lifetime: Int64 = 86_400

  static func numbers(in body: [UInt8]) throws(CatalogError) -> [Int64] {
    guard let results = (try? JSONValue(parsing: body))?["feed"]?["results"], case .array(let list) = results
    else { throw CatalogError(.EPROTO, "the chart is not a list of podcasts") }
    return list.compactMap { $0["id"]?.text.flatMap { Int64($0) } }
  }
}

extension Search {
  /// Whether it shows a country's chart. The country stands in the place of the language.
  package var isChart: Bool { category == AppleCharts.folder && language != nil }
}

extension Catalog {
  /// Whether a chart was not read for a day; false for any other search.
  package func isChartDue(_ id: Int64) throws(CatalogError) -> Bool {
    guard let search = try search(id), search.isChart else { return false }
    if search.searched > 0, chartsOnTheirWay.withLock({ $0.contains(id) }) { return false }
    // A clock that was set back must not keep it for ever.
    return search.searched > store.now || search.searched <= store.now - AppleCharts.lifetime
  }

  /// Reads a country's chart. The podcasts' feeds come from the offline directory, and those that it does not know from one
  /// look-up at Apple. Takes twenty seconds at the most.
  @discardableResult
  package func readChart(
    _ id: Int64, completion: @escaping @Sendable (Result<Void, CatalogError>) -> Void
  ) -> any Cancellable {
    chartsOnTheirWay.withLock { _ = $0.insert(id) }
    let ending: @Sendable (Result<Void, CatalogError>) -> Void = { [chartsOnTheirWay] result in
      chartsOnTheirWay.withLock { _ = $0.remove(id) }
      completion(result)
    }
    return begin(AppleCharts.folder, ending) { [self] task in
      let search = try existing("chart", search(id))
      let country = try existing("chart", search.isChart ? search.language : nil)
      let response = try askApple(apple.address(ofChart: country), for: task)
      let answer = try chart(AppleCharts.numbers(in: response.body), country, for: task)
      try task.beginCommit()
      try update(id, search.name, answer)
    }
  }

  private func chart(
    _ numbers: [Int64], _ country: String, for task: CatalogWork<Void>
  ) throws(CatalogError) -> MergedAnswer {
    var known: [Int64: FoundPodcast] = [:]
    for number in numbers {
      if let entry = try? directory.podcast(apple: number) { known[number] = FoundPodcast(entry) }
    }
    let missing = numbers.filter { known[$0] == nil }
    var source = Self.directoryName
    var mayBePrivate = apple.isOnPrivateHost
    if !missing.isEmpty {
      let address = apple.address(ofLookup: Array(missing.prefix(200)), country: country)
      let response = try askApple(address, for: task)
      for podcast in try AppleAnswer(response.body).podcasts {
        if let number = podcast.appleID { known[number] = podcast }
      }
      (source, mayBePrivate) = (AppleSearch.name, response.head.isFromPrivateHost)
    }
    // Those that are exclusive to Apple have no feed.
    let found = numbers.compactMap { known[$0] }
    return MergedAnswer(
      [SearchAnswer(source: source, found: found, mayBePrivate: mayBePrivate)], limit: found.count)
  }
}
