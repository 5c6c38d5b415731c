internal import Catalog
internal import Configuration
internal import PodcastModel
internal import PodcastTree
internal import PosixKit
internal import Transcripts
internal import TransferClient
internal import TransferProtocol

enum ForgetCommand: Command {
  static let name = "forget"
  static let summary = "remove podcasts and their downloads everywhere"
  static let usage = """
    podcastfs forget NAME|FEED-URL…

    Removes a podcast from Subscriptions/, from all searches and from the catalogue, with its notes and marks, and drops its
    downloads. NAME is a folder in Subscriptions/ or Downloaded/, or the podcast's title.
    """

  static func run(_ arguments: inout ArgumentList) throws -> Int32 {
    let names = try arguments.operands(1..., "forget takes the name of a podcast")
    let session = try CatalogSession()
    defer { session.settle() }
    try session.catalog.finishForgetting()
    return names.forEachReporting { name in
      let podcast = try session.knownPodcast(name)
      // First: where this process ends meanwhile, the podcast is still there to be forgotten again.
      try drop(try session.catalog.mediaKeys(ofPodcast: podcast), session)
      SidecarCopies.remove(ofPodcast: podcast, in: session.places)
      // What was begun meanwhile goes too.
      let keys = try session.catalog.mediaKeys(ofPodcast: podcast)
      try drop(try session.catalog.forget(podcast: podcast), session)
      SidecarCopies.remove(ofPodcast: podcast, in: session.places)
      try OwnTranscripts(data: session.places.data)
        .forget(keys, copies: SidecarCopies.directory(in: session.places))
    }
  }

  /// Seconds for the daemon to drop one more download.
  private static let patience = 30.0

  private static func drop(_ keys: [MediaKey], _ session: CatalogSession) throws {
    let transfers = try TransferClient(places: session.places, settings: session.settings, isMount: false)
    defer { transfers.stop() }
    // Also what only the cache knows of.
    transfers.waitUntilCurrent(until: .after(patience))
    // All at once: they have few commits in common.
    let orders = Monitor<[TransferFailure?]>([])
    let known = keys.filter { transfers.status(of: $0) != nil }
    for key in known {
      transfers.order(.forget(key)) { failure in orders.withLockNotifying { $0.append(failure) } }
    }
    for count in 0..<known.count {
      let failure = orders.wait(until: .after(patience)) { $0.count > count ? .some($0[count]) : nil }
      guard let failure else { throw CommandFailure("the transfer daemon did not drop a download") }
      if let failure { throw CommandFailure("cannot drop a download: \(failure.message)") }
    }
  }
}
