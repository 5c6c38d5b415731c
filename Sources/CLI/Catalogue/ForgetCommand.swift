internal import Catalog
internal import Configuration
internal import PodcastModel
internal import PodcastTree
internal import PosixKit
internal import Transcripts
internal import TransferClient
internal import TransferProtocol

enum ForgetCommand: Command {
  static let usage = """
    podcastfs forget NAME|FEED-URL…

    Removes a podcast from Subscriptions/, from all searches and from the catalogue, with its notes and marks, and drops its
    downloads and the numbers of the last search. NAME is a folder in Subscriptions/ or Downloaded/, or the podcast's title.
    """

  static func run(_ arguments: inout ArgumentList) throws {
    try CatalogSession.forEach(arguments) { name, session in
      try session.catalog.finishForgetting()
      let podcast = try session.knownPodcast(name)
      // First: where this process ends meanwhile, the podcast is still there to be forgotten again.
      try drop(try session.catalog.mediaKeys(ofPodcast: podcast), session)
      SidecarCopies.remove(ofPodcast: podcast, in: session.places)
      // What was begun meanwhile goes too.
      let keys = try session.catalog.mediaKeys(ofPodcast: podcast)
      try drop(try session.catalog.forget(podcast: podcast), session)
      SidecarCopies.remove(ofPodcast: podcast, in: session.places)
      LastSearch.forget(in: session.places)
      try OwnTranscripts(data: session.places.data)
        .forget(keys, copies: SidecarCopies.directory(in: session.places))
    }
  }

  private static func drop(_ keys: [MediaKey], _ session: CatalogSession) throws {
    let transfers = try TransferClient(places: session.places, settings: session.settings, isMount: false)
    defer { transfers.stop() }
    // Also what only the cache knows of.
    transfers.waitUntilCurrent(until: .after(30))
    for key in keys where transfers.status(of: key) != nil { try transfers.wait(for: .forget(key)) }
  }
}
