/// What came of a list of subscriptions.
package struct OPMLImport: Hashable, Sendable {
  /// Feeds that were not subscribed to before.
  package var added: Int
  /// Feeds that were.
  package var known: Int
  /// Entries that could not be used and what was repaired, one line each.
  package var problems: [String]
  /// How many of these are entries that could not be used.
  package var refused = 0

  package init(added: Int, known: Int, problems: [String]) {
    self.added = added
    self.known = known
    self.problems = problems
  }
}
