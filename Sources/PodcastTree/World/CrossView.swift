internal import PodcastModel

/// The names of a view across podcasts: "<date> - <Podcast> - <Episode>". Which name an episode has depends only on
/// which episodes there are, not on the order in which they came: it is the same after a remount.
struct CrossView: Sendable {
  private struct Member {
    let known: KnownEpisode
    let stem: String
    let key: String
  }
  private var members: [Int64: Member] = [:]
  /// Episodes of one name, in the order of their numbers: the first has it, the others have it numbered.
  private var groups: [String: [Int64]] = [:]
  /// Which episodes it has, as a number.
  private(set) var mark: Int64 = 0

  var count: Int { members.count }
  var ids: Set<Int64> { Set(members.keys) }
  func contains(_ id: Int64) -> Bool { members[id] != nil }
  func episode(_ id: Int64) -> ListedEpisode? { members[id]?.known.episode }

  func name(of id: Int64) -> String? {
    guard let member = members[id], let group = groups[member.key] else { return nil }
    let suffix = member.known.episode.name.utf8.dropFirst(member.known.episode.stem.utf8.count)
    let ending = String(decoding: suffix, as: UTF8.self)
    if group[0] == id { return member.stem + ending }
    var number = 1
    for other in group.dropFirst() {
      repeat { number += 1 } while groups[UniqueNames.key(EpisodeName.numbered(member.stem, number))] != nil
      if other == id { break }
    }
    return EpisodeName.numbered(member.stem, number) + ending
  }

  /// All of the names that an episode's coming or going can change: its own, and those of the same name.
  func names(with id: Int64) -> [(name: String, episode: ListedEpisode)] {
    guard let member = members[id], let group = groups[member.key] else { return [] }
    return group.compactMap { other in
      name(of: other).flatMap { name in members[other].map { (name, $0.known.episode) } }
    }
  }

  var items: [Listing.Item] {
    members.values.compactMap { member in
      name(of: member.known.episode.id).map { Listing.Item(name: $0, target: .episode(member.known.episode)) }
    }
  }

  mutating func insert(_ known: KnownEpisode) {
    remove(known.episode.id)
    let stem = EpisodeName.viewStem(podcast: known.podcastName, stem: known.episode.stem)
    let member = Member(known: known, stem: stem, key: UniqueNames.key(stem))
    members[known.episode.id] = member
    mark &+= Scatter.number(known.episode.id)
    var group = groups[member.key] ?? []
    group.insert(known.episode.id, at: group.firstIndex { $0 > known.episode.id } ?? group.endIndex)
    groups[member.key] = group
  }

  mutating func remove(_ id: Int64) {
    guard let member = members.removeValue(forKey: id) else { return }
    mark &-= Scatter.number(id)
    groups[member.key]?.removeAll { $0 == id }
    if groups[member.key]?.isEmpty == true { groups[member.key] = nil }
  }
}
