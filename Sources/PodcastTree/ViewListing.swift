internal import PodcastModel

/// A view across podcasts: its names, each with its episode.
struct ViewListing: Sendable {
  private(set) var items: [(name: String, entry: EpisodeEntry)] = []
  private var byName: [String: Int] = [:]
  private var names: [Int64: String] = [:]

  init() {}

  /// Names them "<date> - <Podcast> - <Episode>"; in the order of the catalogue's numbers, so that two of the
  /// same name keep theirs while both are there.
  init(_ entries: some Sequence<EpisodeEntry>) {
    var unique = UniqueNames()
    for entry in entries.sorted(by: { $0.episode.id < $1.episode.id }) {
      let stem = EpisodeName.viewStem(podcast: entry.podcast.name, stem: entry.episode.stem)
      let name = unique.claim(stem) + entry.episode.fileExtension
      names[entry.episode.id] = name
      items.append((name, entry))
    }
    items.sort { $0.name < $1.name }
    for (index, item) in items.enumerated() { byName[item.name] = index }
  }

  func entry(named name: String) -> EpisodeEntry? { byName[name].map { items[$0].entry } }
  func name(ofEpisode id: Int64) -> String? { names[id] }
  func contains(episode id: Int64) -> Bool { names[id] != nil }
}
