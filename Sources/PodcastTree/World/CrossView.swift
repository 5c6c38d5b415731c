internal import PodcastModel

/// The names of a view over several podcasts: "<date> - <Podcast> - <Episode>".
struct CrossView: Sendable {
  private struct Member {
    let episode: ListedEpisode
    let name: String
    let key: String
  }
  private var members: [Int64: Member] = [:]
  private var keys: Set<String> = []

  var count: Int { members.count }
  func contains(_ id: Int64) -> Bool { members[id] != nil }
  func episode(_ id: Int64) -> ListedEpisode? { members[id]?.episode }
  func name(of id: Int64) -> String? { members[id]?.name }

  var items: [Listing.Item] {
    members.values.map { Listing.Item(name: $0.name, target: .episode($0.episode)) }
  }

  /// Two podcasts whose names are the same where they are cut may have an episode of the same name: the later one is
  /// numbered.
  mutating func insert(_ known: KnownEpisode) {
    let episode = known.episode
    remove(episode.id)
    let plain = EpisodeName.viewStem(podcast: known.podcastName, stem: episode.stem)
    var (stem, number) = (plain, 1)
    while !keys.insert(UniqueNames.key(stem)).inserted {
      number += 1
      stem = EpisodeName.numbered(plain, number)
    }
    let ending = String(decoding: episode.name.utf8.dropFirst(episode.stem.utf8.count), as: UTF8.self)
    members[episode.id] = Member(episode: episode, name: stem + ending, key: UniqueNames.key(stem))
  }

  mutating func remove(_ id: Int64) {
    if let member = members.removeValue(forKey: id) { keys.remove(member.key) }
  }
}
