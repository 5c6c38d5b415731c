internal import Catalog
internal import Configuration
internal import FeedKit
internal import HTTPKit
internal import PosixKit

/// The catalogue as a command uses it: opened by the user's configuration, its waits made plain calls.
struct CatalogSession: Sendable {
  let places: Places
  let settings: Settings
  let http: HTTPClient
  let catalog: Catalog

  /// - Parameter change: changes the settings by the command's own options, such as `--country`.
  init(_ change: (inout Settings) -> Void = { _ in }) throws {
    let loaded = try CommandSettings.load()
    var settings = loaded.settings
    change(&settings)
    places = loaded.places
    self.settings = settings
    try places.create()
    http = HTTPClient(name: "catalog-http")
    catalog = try Catalog(places: places, settings: settings, http: http, feedReader: .program())
    if let note = catalog.note { StandardStreams.complain(note) }
  }

  /// Ends the session: waits for the further pages of refreshed feeds.
  func settle() {
    catalog.waitForRefreshes(seconds: 600)
    // With all that it has written in the file itself.
    catalog.close()
  }

  /// Reports podcasts whose older episodes could not be fetched, after all attempts.
  func reportMissing(_ podcasts: [(name: String, id: Int64)]) throws {
    catalog.waitForRefreshes(seconds: 600)
    for podcast in podcasts {
      guard let missing = try catalog.missingPages(ofPodcast: podcast.id) else { continue }
      StandardStreams.complain("\(podcast.name): \(missing)")
    }
  }

  /// Waits for an operation of the catalogue. Each has a bound of its own; this one is for errors of this program.
  func wait<Value: Sendable>(
    _ start: (@escaping @Sendable (Result<Value, CatalogError>) -> Void) -> any Cancellable
  ) throws -> Value {
    guard let result = Waiting.result(within: 300, start) else {
      throw CommandFailure("no answer within five minutes")
    }
    return try result.get()
  }
}
