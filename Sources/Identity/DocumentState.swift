/// What a document as a whole tells of its items, besides what each says.
struct DocumentState: Sendable {
  /// It shows one item at a time: each hour's news may be called the same, at one address, and nothing else is there to
  /// tell that by.
  let isSlot: Bool
  /// Of more than one episode that is known only one is shown.
  let isRolling: Bool
  /// Some of it is as it was: its clock has not been corrected as a whole.
  let hasUnchanged: Bool
  /// All items and all episodes that are known are at a few addresses.
  private let hasFewAddresses: Bool
  /// So few guids as a day has editions: those of the editions, not of episodes.
  let hasFewGuids: Bool
  /// When the newest episode that is known was published.
  private let newest: Int64?

  /// Seconds by which a time is corrected while nothing new has come.
  private static let correction = 600.0
  /// As many editions a day have addresses of their own: the morning's, the evening's.
  private static let mostSlots = 4

  init(items: [Candidate], known: [Candidate], hasUnchanged: Bool) {
    isSlot = items.count == 1
    isRolling = isSlot && known.count > 1
    self.hasUnchanged = hasUnchanged
    newest = known.lazy.compactMap(\.traits.published).max()
    hasFewGuids =
      items.count <= Self.mostSlots && Set((items + known).lazy.map(\.traits.guid)).count <= Self.mostSlots
    hasFewAddresses =
      items.count <= Self.mostSlots
      && Set((items + known).lazy.map(\.address.unsigned)).count <= Self.mostSlots
  }

  /// Later than all that is known.
  func isNews(_ item: Candidate) -> Bool {
    guard let time = item.traits.published, let newest else { return false }
    return Double(time) > Double(newest) + Self.correction
  }

  func isNewest(_ known: Candidate) -> Bool { known.traits.published == newest && newest != nil }

  /// Others have been published since.
  func isPast(_ known: Candidate) -> Bool {
    guard let time = known.traits.published, let newest else { return false }
    return Double(time) < Double(newest) - Self.correction
  }

  /// Whether the address that the two have in common may be one at which editions follow each other. It has no number, as
  /// those of episodes have, and says that it is the newest; or nothing in the feed has ever been anywhere else but at a
  /// few such addresses, and this is the only item, or has come to be the newest of all, or is another one where no date is
  /// said.
  func mayBeSlot(_ item: Candidate, _ known: Candidate) -> Bool {
    if item.address.isLatest { return true }
    if item.address.isNumbered || !hasFewAddresses { return false }
    if isSlot || leapsAhead(item, known) { return true }
    return (item.traits.published == nil || known.traits.published == nil) && item.title != known.title
      && !item.words.isCorrection(of: known.words)
  }

  /// Whether it has come to be later than all that is known, while others were; or all have.
  func leapsAhead(_ item: Candidate, _ known: Candidate) -> Bool {
    isNews(item) && (isPast(known) || !hasUnchanged)
  }
}
