internal import PosixKit

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
