/// What came of a list of subscriptions, or of a file that holds one link.
package struct OPMLImport: Hashable, Sendable {
  /// Feeds that were not subscribed to before.
  package var added: Int
  /// Feeds that were.
  package var known: Int
  /// Entries that could not be used and what was repaired, one line each.
  package var problems: [String]
  /// How many of these are entries that could not be used.
  package var refused = 0
  /// The file is no list, but a link to a feed or a web page: nothing has been subscribed to yet. `subscribe(address:)`
  /// does that, by the network.
  package var link: String?

  package init(added: Int, known: Int, problems: [String]) {
    self.added = added
    self.known = known
    self.problems = problems
  }
}
