internal import Catalog
internal import Configuration
internal import Glibc
internal import MountService
internal import PodcastModel

/// A subscription in a mount, by a name that people know it by.
enum MountedPodcast {
  /// The path that a word means: the word itself, where something is there or it is no subscription's name; else the folder
  /// of the subscription in a mount of the user.
  static func path(_ word: String) -> String {
    var status = stat()
    if stat(word, &status) == 0 || word.contains("/") { return word }
    guard let session = try? CatalogSession(),
      let root = MountServer.mountPoints(places: session.places).first
    else { return word }
    let found = try? session.subscription(word)
    return found.map { "\(root)/Subscriptions/\($0.name)" } ?? word
  }
}

extension ArgumentList {
  /// The operands of a command about episodes: paths, and names of subscriptions.
  mutating func paths() throws -> [String] { try operands().map(MountedPodcast.path) }
}
