/// Whether a guid that an item and an episode have in common is the name of something else: of the feed, of a place in
/// the list, of a file that is replaced by each edition, of an episode of another season.
///
/// A guid is the publisher's own word, and outweighs what has been corrected; but not everything at once, and not what
/// another episode has all of.
struct ReusedGuid {
  let document: DocumentState
  let rivals: Rivals
  let rarity: Rarity
  let season: NextSeason

  /// Seconds: what is corrected of a date may be as much.
  private static let week = 6 * 86_400.0

  /// - Parameters: an item and an episode of one guid that nobody else has.
  func isReused(_ item: Candidate, _ known: Candidate) -> Bool {
    let common = Common(item, known, isSlot: document.mayBeSlot(item, known))
    if common.address != true, rivals.has(item, known) { return true }
    return isAnotherInAll(common) || isOfAnotherSeason(common, item, known)
      || isNextEdition(common, item, known) || isNextTurn(common, item, known)
  }

  /// All at once is no correction. (An address that is the guid, or that names no episode, tells nothing besides.)
  private func isAnotherInAll(_ common: Common) -> Bool {
    guard common.title == false else { return false }
    switch common.day {
    case false?:
      return common.address != true || common.audio == false || common.isGuidAddress && document.isSlot
    case nil:
      if common.audio == true || common.number == true { return false }
      let isOther = common.audio == false || common.number == false
      return common.address == false ? isOther : common.address == nil && (isOther || common.isLatest)
    case true?: return false
    }
  }

  /// "Episode 1", of which each season has one.
  private func isOfAnotherSeason(_ common: Common, _ item: Candidate, _ known: Candidate) -> Bool {
    guard common.title == true, common.address == false, common.day == false else { return false }
    if let time = item.traits.published, let other = known.traits.published,
      item.address.host == known.address.host, season.has(offset: Double(time) - Double(other))
    {
      return true
    }
    guard common.number != true else { return false }
    // A show that moves may have all dated anew.
    let isSeasonsLater =
      common.distance >= NextSeason.shortest && item.words.isOfAnySeason
      && item.address.host == known.address.host
    // One that lasts as long, by chance: it is the next "Door 1", and newer than all.
    if common.audio == true {
      return isSeasonsLater && common.isExactAudio == false && document.isNews(item)
        && item.words.hasNumber && item.title == known.title
    }
    return common.audio == false || common.number == false || isSeasonsLater
  }

  /// The file, or one beside it, is made anew for each edition.
  private func isNextEdition(_ common: Common, _ item: Candidate, _ known: Candidate) -> Bool {
    guard document.isNews(item) else { return isOtherAtSlot(common) }
    let isElsewhere =
      common.address == false && item.address.host == known.address.host
      || item.address.isSuccessor(of: known.address)
    // Title, time and file are others: no more of it is left than a guid, whatever that looks like.
    if document.isSlot, common.title == false, isElsewhere || common.isSlot { return true }
    // Of one title, but longer or shorter than a host makes it; and the guid may be the show's, with a number in it.
    if document.isSlot, isElsewhere, common.title == true, common.isOtherDuration, !common.isNumberedGuid,
      common.distance >= Self.week
    {
      return true
    }
    guard common.isLatest || !common.mayNameOne else { return false }
    if !document.isSlot, !common.isLatest {
      guard common.isSlot || isElsewhere && document.hasFewGuids && document.leapsAhead(item, known) else {
        return false
      }
      if common.day == false { return common.isExactAudio != true }
      return common.title == false || common.isExactAudio == false
    }
    if document.isSlot, common.title == false, common.day == false { return true }
    guard common.isSlot || isElsewhere || common.isGuidAddress else { return false }
    if common.day == true {
      if common.title == false { return true }
      return common.isExactAudio == false && (common.isSlot || isElsewhere)
        || isElsewhere && document.isRolling
    }
    if document.isRolling && !common.isGuidAddress || common.isLatest || isElsewhere { return true }
    return common.isSlot ? common.isExactAudio != true : common.isExactAudio == false
  }

  /// Where no date is said, a title of its own tells editions at one address apart.
  private func isOtherAtSlot(_ common: Common) -> Bool {
    document.isSlot && common.isSlot && common.day == nil && common.title == false && !common.mayNameOne
      && common.isExactAudio != true
  }

  /// Its address is one of some that are used in turn.
  private func isNextTurn(_ common: Common, _ item: Candidate, _ known: Candidate) -> Bool {
    guard common.isGuidAddress, document.isNews(item), document.isPast(known) else { return false }
    let isShared = item.title.map { !rarity.isRare(TraitKey(.title, $0)) } ?? true
    if !document.isSlot { return document.hasUnchanged && (isShared || common.title == false) }
    return isShared || common.title == false || common.isExactAudio != true
  }
}

/// What two have in common: false where they differ, nil where one of them does not say, or it tells nothing.
private struct Common {
  let title: Bool?
  /// Nil for those at which editions follow each other, if they are the same.
  let address: Bool?
  let day: Bool?
  /// Seconds.
  let distance: Double
  let audio: Bool?
  let number: Bool?
  /// To the byte, or the second; that both last five minutes says nothing.
  let isExactAudio: Bool?
  /// The guid says no more than the address.
  let isGuidAddress: Bool
  /// The guid has a number, as those that name one episode have, and no feed's.
  let mayNameOne: Bool
  /// It lasts longer or shorter than a host's rounding and advertisements make it.
  let isOtherDuration: Bool
  /// The guid is one of those of a numbered or random kind, or an address: no show's.
  let isNumberedGuid: Bool
  /// The address is the same, and editions may follow each other there.
  let isSlot: Bool
  /// The address says that it is always the newest, and is the same.
  let isLatest: Bool

  init(_ item: Candidate, _ known: Candidate, isSlot: Bool) {
    let (one, other) = (item.traits, known.traits)
    if let title = item.title, let otherTitle = known.title {
      self.title = title == otherTitle || item.words.isCorrection(of: known.words)
    } else {
      title = nil
    }
    address = Self.isSame(item.address, known.address, isSlot: isSlot)
    if let time = one.published, let otherTime = other.published {
      day = Comparison.isNear(time, otherTime)
      distance = abs(Double(time) - Double(otherTime))
    } else {
      (day, distance) = (nil, 0)
    }
    let durations = one.duration.flatMap { first in other.duration.map { (first, $0) } }
    let lengths = item.length.flatMap { first in known.length.map { (first, $0) } }
    if let durations {
      audio =
        Comparison.isSame(duration: durations.0, durations.1)
        ? true : Comparison.isOther(duration: durations.0, durations.1) ? false : nil
    } else {
      audio = lengths.flatMap { $0.0 == $0.1 ? true : nil }
    }
    number = item.number.flatMap { number in known.number.map { $0 == number } }
    let facts = [
      durations.flatMap { $0.0 != $0.1 ? false : $0.0.isMultiple(of: 60) ? nil : true },
      lengths.map { $0.0 == $0.1 },
    ].compactMap(\.self)
    isExactAudio = facts.isEmpty ? nil : !facts.contains(false)
    let isSameAddress = item.address.unsigned == known.address.unsigned
    isGuidAddress = isSameAddress && one.guid.map { AddressForms.isSame($0, as: item.address) } ?? false
    isOtherDuration = durations.map { !Comparison.isSame(duration: $0.0, $0.1) } ?? false
    isNumberedGuid = one.guid.map { !Self.mayBeWord($0) } ?? true
    mayNameOne = !isGuidAddress && one.guid.map(Self.mayNameOne) ?? false
    self.isSlot = isSlot && isSameAddress
    isLatest = isSameAddress && item.address.isLatest
  }

  /// The first place in a list is no number of an episode.
  private static func mayNameOne(_ guid: String) -> Bool {
    guid != "0" && guid != "1" && guid.contains(where: \.isNumber)
  }

  /// A word with a short number behind it, "podcast-1".
  private static func mayBeWord(_ guid: String) -> Bool {
    let letters = guid.prefix(while: \.isLetter)
    let rest = guid.dropFirst(letters.count).drop { $0 == "-" || $0 == "_" }
    return letters.count >= 3 && rest.count <= 3 && rest.allSatisfy(\.isNumber)
  }

  private static func isSame(_ one: AddressForms, _ other: AddressForms, isSlot: Bool) -> Bool? {
    if one.unsigned == other.unsigned { return isSlot ? nil : true }
    // What was left out may be a session, or the episode's number.
    if one.bare == other.bare { return nil }
    return one.host != other.host && one.fileName == other.fileName && one.isFileNamed
  }
}

/// Items and episodes that are the same in so much that a guid does not part them: an item that says all but the guid
/// of one episode is not another one, and an episode of which another item says all is not this one.
struct Rivals {
  private let ofItems: [String: [Int]]
  private let ofKnown: [String: [Int]]

  /// - Parameters: those that are not decided yet.
  init(items: [Candidate], known: [Candidate]) {
    (ofItems, ofKnown) = (Self.places(items), Self.places(known))
  }

  /// Where nobody asks.
  init() { (ofItems, ofKnown) = ([:], [:]) }

  private static func places(_ all: [Candidate]) -> [String: [Int]] {
    var places: [String: [Int]] = [:]
    for (index, one) in all.enumerated() {
      for key in keys(one) { places[key, default: []].append(index) }
    }
    return places
  }

  private static func keys(_ one: Candidate) -> [String] {
    var keys: [String] = []
    if let title = one.title, !one.address.isLatest { keys.append("a\(one.address.unsigned)\n\(title)") }
    if let time = one.traits.published {
      keys.append("t\(one.address.unsigned)\n\(time)")
      if let title = one.title { keys.append("d\(title)\n\(time)") }
    }
    return keys
  }

  func has(_ item: Candidate, _ known: Candidate) -> Bool {
    let (own, other) = (Self.keys(item), Self.keys(known))
    func isAlone(_ key: String) -> Bool { ofItems[key]?.count == 1 && ofKnown[key]?.count == 1 }
    return own.contains { !other.contains($0) && isAlone($0) }
      || other.contains { !own.contains($0) && isAlone($0) }
  }
}
