/// Whether a search still shows one of its results.
enum ResultState: Int {
  case shown = 0
  /// The user took it away.
  case hidden = 1
  /// It was subscribed to, and comes back when the search is made again.
  case subscribed = 2
  /// The service did not name it when the search was made again.
  case gone = 3
}
