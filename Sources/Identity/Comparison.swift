/// Compares one item with one episode.
struct Comparison {
  let rarity: Rarity
  /// Some items of the document have the guid of an episode: guids are kept here.
  let areGuidsKept: Bool
  let document: DocumentState
  let rivals: Rivals
  let season: NextSeason
  /// A time to the second tells also those of one title apart (`KeptClock`).
  let isClockKept: Bool

  /// Seconds: the farthest that a wrong time zone moves a time.
  static let nearness: Int64 = 14 * 3600

  /// - Parameter hasMoved: with all the others of its feed (`WholeMove`).
  func evidence(_ item: Candidate, _ known: Candidate, hasMoved: Bool) -> Evidence {
    var evidence = Evidence()
    let guid = compareGuids(item, known, &evidence)
    compareAddresses(item, known, &evidence)
    if let title = item.title, let other = known.title {
      let isRare = isRare(.title, title)
      evidence.add(
        title == other ? isRare ? .sameTitle : .sharedTitle : hasMoved ? .sameTitleButForAffix : .otherTitle)
    }
    compareTimes(item, known, guid, hasMoved, &evidence)
    if hasMoved { evidence.add(.movedWithAll) }
    if let duration = item.traits.duration, let other = known.traits.duration {
      compare(duration: duration, other, &evidence)
    }
    if let length = item.length, let other = known.length {
      if length != other {
        evidence.add(.otherLength)
      } else if isRare(.length, "\(length)") {
        evidence.add(.sameLength)
      }
    }
    if let number = item.number, let other = known.number {
      if number != other {
        evidence.add(.otherNumber)
      } else if isRare(.number, number) {
        evidence.add(.sameNumber)
      }
    }
    return evidence
  }

  /// What the guids of the two say.
  private enum Guids {
    /// They name the same episode.
    case same
    /// They are the same, but of something else.
    case reused
    /// They are others, those of many, or not there.
    case unnamed
  }

  private func compareGuids(_ item: Candidate, _ known: Candidate, _ evidence: inout Evidence) -> Guids {
    guard let guid = item.traits.guid, let other = known.traits.guid else { return .unnamed }
    if guid != other {
      evidence.add(areGuidsKept ? .otherGuidAmongKept : .otherGuid)
      return .unnamed
    }
    guard isRare(.guid, guid) else {
      evidence.add(.sharedGuid)
      return .unnamed
    }
    evidence.add(.sameGuid)
    let test = ReusedGuid(document: document, rivals: rivals, rarity: rarity, season: season)
    guard test.isReused(item, known) else { return .same }
    evidence.add(.reusedGuid)
    return .reused
  }

  /// Only the strongest that two addresses have in common counts.
  private func compareAddresses(_ item: Candidate, _ known: Candidate, _ evidence: inout Evidence) {
    let (one, other) = (item.address, known.address)
    if one.whole == other.whole {
      let isRare = isRare(.address, one.whole)
      evidence.add(
        !isRare ? .sharedAddress : document.mayBeSlot(item, known) ? .sameSlotAddress : .sameAddress)
    } else if one.unsigned == other.unsigned, isRare(.unsigned, one.unsigned) {
      evidence.add(document.mayBeSlot(item, known) ? .sameSlotAddress : .sameUnsignedAddress)
    } else if one.bare == other.bare, isRare(.bare, one.bare) {
      evidence.add(.sameBareAddress)
    } else if let address = one.withoutTokens, address == other.withoutTokens {
      if one.isFileNumbered, isRare(.tokenless, address) { evidence.add(.sameAddressButForToken) }
    } else if one.host == other.host {
      evidence.add(.otherAddress)
    } else if one.fileName == other.fileName, !one.isLatest, one.isFileNamed, one.fileName.utf8.count >= 8,
      isRare(.fileName, one.fileName)
    {
      evidence.add(.sameFileName)
    }
  }

  private func compareTimes(
    _ item: Candidate, _ known: Candidate, _ guids: Guids, _ hasMoved: Bool, _ evidence: inout Evidence
  ) {
    guard let time = item.traits.published, let other = known.traits.published else { return }
    let isAtSameHost = item.address.host == known.address.host
    if time == other, guids != .same, isAtSameHost, !hasMoved, isOtherOfTheDay(item, known, at: time) {
      evidence.add(.nextTime)
    } else if time == other {
      let tells =
        isClockKept || !KeptClock.isAsked(item, known) || item.title.map { isRare(.title, $0) } ?? false
        || isClockKept(item, known)
      evidence.add(tells && isRare(.time, "\(time)") ? .sameTime : .sharedTime)
    } else if guids != .same, isAtSameHost, isNextEdition(item, known, guids) {
      evidence.add(.nextEdition)
    } else if Self.isNear(time, other) {
      if guids != .same, isAtSameHost, document.isSlot {
        evidence.add(.nextTime)
      } else {
        evidence.add(rarity.isAlone(item: time, known: other) ? .nearTime : .sharedNearTime)
      }
    } else {
      evidence.add(hasMoved ? .timeOfImport : .otherTime)
    }
  }

  /// Whether it is hardly chance that the two are of the same time: no other clock is needed to say why the address is
  /// another one, or what is alone in its feed is of the time of the newest.
  private func isClockKept(_ item: Candidate, _ known: Candidate) -> Bool {
    guard item.address.host == known.address.host else { return false }
    // Another guid is reason enough for another address.
    if let guid = item.traits.guid, let other = known.traits.guid, guid != other { return false }
    return item.address.withoutTokens.map { $0 == known.address.withoutTokens } ?? false
      || document.isSlot && document.isNewest(known)
  }

  /// Whether their time may be no more than the day, of which a feed that shows one item at a time has several: under another
  /// title, or, where it surely is, with another guid or at the next address.
  private func isOtherOfTheDay(_ item: Candidate, _ known: Candidate, at time: Int64) -> Bool {
    guard document.isSlot, time.isMultiple(of: Self.zoneStep), !isSameFile(item, known) else { return false }
    if let title = item.title, let other = known.title, title != other,
      !item.words.isCorrection(of: known.words)
    {
      return true
    }
    guard time.isMultiple(of: Self.day) else { return false }
    if let guid = item.traits.guid, let other = known.traits.guid { return guid != other }
    let (one, other) = (item.address, known.address)
    return one.isSuccessor(of: other) && one.bare != other.bare
      && (one.withoutTokens == nil || one.withoutTokens != other.withoutTokens)
  }

  /// By a name with a number, whatever else is asked for; or at the same address, unless editions follow each other there: by
  /// guids of their own, or, without any, where the time surely is the day.
  private func isSameFile(_ item: Candidate, _ known: Candidate) -> Bool {
    let (one, other) = (item.address, known.address)
    if one.unsigned == other.unsigned {
      let (guid, otherGuid) = (item.traits.guid, known.traits.guid)
      if guid == otherGuid, guid != nil { return true }
      let isDay = item.traits.published?.isMultiple(of: Self.day) ?? false
      return !document.mayBeSlot(item, known) || (guid == nil || otherGuid == nil) && !isDay
    }
    return one.isFileNumbered
      && (one.bare == other.bare || one.withoutTokens != nil && one.withoutTokens == other.withoutTokens)
  }

  /// Whether it is where another edition was.
  private func isNextEdition(_ item: Candidate, _ known: Candidate, _ guids: Guids) -> Bool {
    let isSameAddress = item.address.unsigned == known.address.unsigned
    if guids == .reused, isSameAddress { return true }
    guard document.isNews(item) else { return false }
    let isOtherTitle = item.title != known.title && !item.words.isCorrection(of: known.words)
    // Nothing else than the address is left.
    if document.isSlot, isSameAddress, isOtherTitle { return true }
    guard document.isPast(known) else { return false }
    if document.isSlot { return true }
    return document.hasUnchanged && (isOtherTitle || item.title.map { !isRare(.title, $0) } ?? true)
  }

  /// By a wrong time zone, or because one says the day alone.
  static func isNear(_ time: Int64, _ other: Int64) -> Bool {
    let (distance, overflow) = max(time, other).subtractingReportingOverflow(min(time, other))
    if overflow { return false }
    return distance <= nearness || isSameDay(time, other)
  }

  /// Whether one of the two says the day alone, midnight, and it is the other's.
  static func isSameDay(_ time: Int64, _ other: Int64) -> Bool {
    let isOneTheDayAlone = time.isMultiple(of: day) || other.isMultiple(of: day)
    return isOneTheDayAlone && Double(max(time, other)) - Double(min(time, other)) < Double(day)
      && time / day == other / day
  }

  private static let day: Int64 = 86_400
  /// Seconds: midnight in any zone is so many after that of another one, or a multiple.
  private static let zoneStep: Int64 = 900

  /// Hosts round to minutes, and put in advertisements of some minutes.
  static func isSame(duration: Int, _ other: Int) -> Bool {
    let (short, long) = (Double(min(duration, other)), Double(max(duration, other)))
    return long - short <= min(60, 2 + long / 20)
  }

  private func compare(duration: Int, _ other: Int, _ evidence: inout Evidence) {
    if Self.isSame(duration: duration, other) {
      evidence.add(.sameDuration)
    } else if Self.isOther(duration: duration, other) {
      evidence.add(.otherDuration)
    }
  }

  /// By more than a host rounds or adds.
  static func isOther(duration: Int, _ other: Int) -> Bool {
    !isSame(duration: duration, other)
      && Double(max(duration, other)) > Double(min(duration, other)) * 1.3
  }

  private func isRare(_ kind: TraitKey.Kind, _ value: String) -> Bool { rarity.isRare(TraitKey(kind, value)) }
}
