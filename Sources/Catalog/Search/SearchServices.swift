internal import Configuration
internal import PodcastModel
internal import PosixKit

/// Which services a query is put to.
struct SearchServices: Sendable {
  private let apple: AppleSearch
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

  /// - Throws: `CatalogError` (EINVAL) for `source:podcastindex` without a key.
  func services(for query: SearchQuery) throws(CatalogError) -> [any SearchService] {
    var services: [any SearchService] = []
    let all = query.sources.contains("all")
    if query.sources.isEmpty || all || query.sources.contains("apple") { services.append(apple) }
    if let podcastIndex {
      if query.sources.isEmpty || all || query.sources.contains("podcastindex") {
        services.append(podcastIndex)
      }
    } else if query.sources.contains("podcastindex") {
      throw CatalogError(
        .EINVAL, "Podcast Index needs podcastindex_key and podcastindex_secret in the settings")
    }
    if all || query.sources.contains("fyyd") { services.append(fyyd) }
    return services
  }
}
