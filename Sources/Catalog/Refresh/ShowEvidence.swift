internal import Identity
internal import PodcastModel

/// What speaks for two podcasts being one: for a feed and the podcast whose address leads to it, or for two of the
/// catalogue. Episodes that both have are evidence, a `podcast:guid` and a title only beside them: anybody can copy those.
struct ShowEvidence: Sendable {
  var episodes: Episodes
  /// Both say the same `podcast:guid`, and no third podcast does: some hosts give a template's to all of theirs.
  var hasSameGuid = false
  /// Each says one, and they are others.
  var hasOtherGuid = false
  var titles: Titles

  struct Episodes: Sendable {
    /// Those that both have.
    var common: Int
    /// Of these, those that are not the same by their time and a title such as any show has ("Episode 12"), or that is
    /// another but for what all of the show have ("Lights 12", "News 12").
    var distinct: Int
    /// Of these, those whose addresses differ by no more than a token does.
    var sameFile: Int
    /// How many the one has, and the other.
    var one: Int
    var other: Int
    /// How many of the one's lie in the time of the other's: what came before or after that the other cannot have.
    var within: Int

    init(of items: [ItemTraits], and known: [ItemTraits]) {
      let decisions = EpisodeMatcher.match(items, known: known)
      let titles = Dictionary(items.map { (UniqueNames.key($0.title), 1) }, uniquingKeysWith: +)
      (common, distinct, sameFile) = (0, 0, 0)
      for (item, decision) in zip(items, decisions) {
        guard let place = decision.place else { continue }
        common += 1
        let isTitleAlone = titles[UniqueNames.key(item.title)] == 1
        if Self.isDistinct(item, known[place], isTitleAlone: isTitleAlone) { distinct += 1 }
        if Self.areOneFile(item.address, known[place].address) { sameFile += 1 }
      }
      (one, other) = (items.count, known.count)
      let times = known.compactMap(\.published).map(Double.init)
      let (first, last) = (times.min() ?? .infinity, times.max() ?? -.infinity)
      within = items.count { item in
        item.published.map { Double($0) >= first - Self.day && Double($0) <= last + Self.day } ?? true
      }
    }

    private static func isDistinct(_ item: ItemTraits, _ known: ItemTraits, isTitleAlone: Bool) -> Bool {
      if let guid = item.guid, guid == known.guid, guid.utf8.count >= longGuid { return true }
      if StableAddress.text(item.address) == StableAddress.text(known.address) { return true }
      guard isTitleAlone, UniqueNames.key(item.title) == UniqueNames.key(known.title) else { return false }
      let words = item.title.split { !$0.isLetter && !$0.isNumber }
      return words.count { !$0.contains(where: \.isNumber) } > 1
    }

    /// Whether two addresses name the same file, by its name, or by all that does not look like a token. The ending
    /// counts always: a show's audio and video may lie at addresses of tokens alone.
    private static func areOneFile(_ one: WebAddress, _ other: WebAddress) -> Bool {
      let files = [one, other].map { $0.parts?.path.split(separator: "/").last ?? "" }
      if files[0] == files[1], !files[0].isEmpty { return true }
      let endings = files.map { file in file.lastIndex(of: ".").map { file[$0...].lowercased() } }
      return endings[0] == endings[1]
        && StableAddress.text(WebAddress(one.shown)) == StableAddress.text(WebAddress(other.shown))
    }

    /// Bytes of a guid that is no mere number.
    private static let longGuid = 8
    private static let day = 86_400.0
    /// Fewer may be a trailer or a guest's episode, which others show too.
    private static let few = 3
    private static let some = 5

    /// Half of the episodes, where they are a few, or half of either's; or four fifths of what both can have, where one has
    /// gone on for long.
    func areSame(_ common: Int) -> Bool {
      if common * 2 >= min(one, other), common >= Self.few || common * 2 >= max(one, other) {
        return common > 0
      }
      return common >= Self.some && common * 5 >= within * 4
    }

    /// The one has episodes of the other's time, and the other knows none of them.
    var speakAgainst: Bool { common == 0 && within > 0 && other > 0 }
  }

  enum Titles: Sendable {
    case same
    /// The one has all the words of the other.
    case similar
    case others
    /// One has none.
    case unknown

    init(_ one: String?, _ other: String?) {
      guard let one, let other else {
        self = .unknown
        return
      }
      let words = [one, other].map { title in
        UniqueNames.key(TitleText.line(title)).split { !$0.isLetter && !$0.isNumber }
      }
      let (short, long) = words[0].count < words[1].count ? (words[0], words[1]) : (words[1], words[0])
      if short.isEmpty {
        self =
          UniqueNames.key(TitleText.line(one)) == UniqueNames.key(TitleText.line(other)) ? .same : .others
      } else if short == long {
        self = .same
      } else {
        // A single word is in many titles.
        self = short.count > 1 && Set(short).isSubset(of: long) ? .similar : .others
      }
    }
  }

  /// Whether two podcasts of the catalogue are one: there must be episodes that both have.
  var isEnough: Bool {
    // Under two titles chance may have it that each day has its "Episode 12".
    let common = titles == .others && !hasSameGuid ? episodes.distinct : episodes.common
    if episodes.areSame(common) { return true }
    guard common > 0 else { return false }
    return hasSameGuid
      || titles == .same && episodes.common * 2 >= min(episodes.one, episodes.other)
  }

  /// Whether a feed is that of the podcast whose address leads to it, and which is nowhere else in the catalogue: the owner
  /// of the address says so, so that its name is enough besides.
  var isEnoughForRedirect: Bool {
    if isEnough || hasSameGuid { return true }
    return switch titles {
    case .same: !(hasOtherGuid && episodes.speakAgainst)
    case .similar: !hasOtherGuid && !episodes.speakAgainst
    case .others, .unknown: false
    }
  }
}
