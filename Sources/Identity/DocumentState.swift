/// What a document as a whole tells of its items, besides what each says.
struct DocumentState: Sendable {
  /// It shows one item at a time: each hour's news may be called the same, at one address, and nothing else is there to
  /// tell that by.
  let isSlot: Bool
  /// Of more than one episode that is known only one is shown.
  let isRolling: Bool
  /// Some of it is as it was: its clock has not been corrected as a whole.
  let hasUnchanged: Bool
  /// When the newest episode that is known was published.
  private let newest: Int64?

  /// Seconds by which a time is corrected while nothing new has come.
  private static let correction = 600.0

  init(items: [Candidate], known: [Candidate], hasUnchanged: Bool) {
    isSlot = items.count == 1
    isRolling = isSlot && known.count > 1
    self.hasUnchanged = hasUnchanged
    newest = known.lazy.compactMap(\.traits.published).max()
  }

  /// Later than all that is known.
  func isNews(_ item: Candidate) -> Bool {
    guard let time = item.traits.published, let newest else { return false }
    return Double(time) > Double(newest) + Self.correction
  }

  /// Others have been published since.
  func isPast(_ known: Candidate) -> Bool {
    guard let time = known.traits.published, let newest else { return false }
    return Double(time) < Double(newest) - Self.correction
  }
}
