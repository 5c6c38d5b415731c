package import PodcastModel

/// What tells an episode from others, as a feed says it: the same for an item that comes in and for a known episode. What
/// a feed does not say is nil or empty.
package struct ItemTraits: Hashable, Sendable {
  package var guid: String?
  package var address: WebAddress
  package var title: String
  /// Seconds since 1970, as the feed says.
  package var published: Int64?
  /// A sum of all that the feed says of it: duration, length and notes, too.
  package var fingerprint: Int64 = 0

  package init(address: WebAddress, title: String) {
    self.address = address
    self.title = title
  }
}

extension ItemTraits {
  var withoutFingerprint: ItemTraits {
    var traits = self
    traits.fingerprint = 0
    return traits
  }
}
