import Catalog
import Glibc
import PodcastModel
import TestSupport
import Testing
import TransferProtocol

@testable import PodcastTree

/// Random changes of rows and downloads: after each, directories list what a scan of all rows gives, and the differences
/// lead from the old names to the new ones.
@Suite struct StateSimulatorTests {
  /// What is true, kept in the simplest way.
  private struct Model {
    struct Item {
      var episode: Episode
      var state = TransferState.remote
    }
    let podcasts: [Podcast] = (Int64(1)...4).map { id in
      var podcast = Podcast()
      (podcast.id, podcast.feedURL) = (id, WebAddress("http://feeds.example/\(id)"))
      (podcast.title, podcast.name, podcast.lastRefresh) = ("Show \(id)", "Show \(id)", 1)
      return podcast
    }
    var items: [Int64: Item] = [:]
    var followed: [Int64] = []
    /// The podcasts that the one search has found.
    var found: [Int64] = []
    /// By podcast: what is hidden in its result.
    var hidden: [Int64: Set<Int64>] = [:]
    static let search: Int64 = 900
    var queue: [Int64] = []
    static let limit = 5
    static let latest = EpisodeQuery.latest(limit, days: 0)
    /// Searches for episodes.
    static let texts = [
      "is:cached -is:followed", "is:unplayed sort:oldest limit:3", "-is:cached is:queued", "show:\"show 2\"",
    ]
    static let queries: [NodeID: EpisodeQuery] = Dictionary(
      uniqueKeysWithValues: texts.enumerated().compactMap { place, text in
        (try? EpisodeQuery(parsing: text)).flatMap(\.self).map { (NodeID(.search, 901 + Int64(place)), $0) }
      })

    static func result(_ podcast: Int64) -> NodeID { NodeID(.result, 100 + podcast) }
    static func subscription(_ podcast: Int64) -> NodeID { NodeID(.subscription, 200 + podcast) }
    static func downloaded(_ podcast: Int64) -> NodeID { NodeID(.downloadedPodcast, podcast) }

    func podcast(of id: Int64) -> Podcast { podcasts[Int(EpisodeID.podcast(of: id)) - 1] }
    func listed(_ id: Int64) -> ListedEpisode? {
      items[id].map { ListedEpisode($0.episode, of: podcast(of: id), []) }
    }
    func entry(_ podcast: Int64) -> PodcastEntry {
      let ids = items.keys.filter { EpisodeID.podcast(of: $0) == podcast }.sorted()
      return PodcastEntry(
        podcasts[Int(podcast) - 1], results: results(podcast), episodes: ids.compactMap { listed($0) }, [])
    }
    func results(_ podcast: Int64) -> [Int64: Set<Int64>] {
      found.contains(podcast) ? [100 + podcast: hidden[podcast] ?? []] : [:]
    }
    func folder(_ node: NodeID, _ podcast: Int64) -> Folder {
      var listed = ListedPodcast()
      (listed.id, listed.name, listed.podcast) = (node.row, "Show \(podcast)", podcasts[Int(podcast) - 1])
      return Folder(listed)
    }
    /// What the catalogue selects for a view.
    func rows(_ view: NodeID, _ query: EpisodeQuery) -> [ListedEpisode] {
      let shown = items.keys.filter { id in facts(id).map { query.matches($0, now: 1) } ?? false }
      let sorted = shown.compactMap { facts($0) }.sorted { query.isOrdered($0, before: $1) }
      return sorted.prefix(query.limit).compactMap { listed($0.id) }
    }
    func facts(_ id: Int64) -> EpisodeFacts? {
      guard let item = items[id], let listed = listed(id) else { return nil }
      let podcast = podcast(of: id)
      var facts = listed.facts(
        show: podcast.title, folder: followed.contains(podcast.id) ? podcast.title : nil)
      facts.download = item.state.stage
      facts.queuePlace = queue.firstIndex(of: id).map { $0 + 1 }
      return facts
    }
    private func newest(_ ids: [Int64], _ count: Int) -> [Int64] {
      let sorted = ids.sorted { a, b in
        (items[a]?.episode.published ?? 0, a) > (items[b]?.episode.published ?? 0, b)
      }
      return Array(sorted.prefix(count))
    }

    /// What each directory lists.
    func names(in folder: NodeID) -> Set<String> {
      func own(_ isShown: (Int64, Item) -> Bool) -> Set<String> {
        Set(items.filter { isShown($0.key, $0.value) }.map(\.value.episode.fileName))
      }
      func mixed(_ ids: [Int64]) -> Set<String> {
        Set(
          ids.compactMap { id in
            items[id].map {
              EpisodeName.viewStem(podcast: self.podcast(of: id).name, stem: $0.episode.stem) + ".mp3"
            }
          })
      }
      let number = folder.row % 100
      switch folder.kind {
      case .result:
        return own { id, _ in EpisodeID.podcast(of: id) == number && hidden[number]?.contains(id) != true }
      case .subscription: return own { EpisodeID.podcast(of: $0) == number && !$1.episode.hidden }
      case .downloadedPodcast: return own { EpisodeID.podcast(of: $0) == number && $1.state == .cached }
      case _ where folder == .downloading:
        return mixed(items.filter { $0.value.state.stage == .running }.map(\.key)).union(["Failed", "Paused"])
      case _ where folder == .paused: return mixed(items.filter { $0.value.state == .paused }.map(\.key))
      case _ where folder == .failed: return mixed(items.filter { $0.value.state == .failed }.map(\.key))
      case _ where folder == .queue:
        return Set(
          queue.enumerated().compactMap { place, id in
            items[id].map {
              EpisodeName.queueStem(
                place: place + 1, podcast: self.podcast(of: id).name, stem: $0.episode.stem) + ".mp3"
            }
          })
      case .search where folder != NodeID(.search, Self.search):
        guard let query = Self.queries[folder] else { return [] }
        return mixed(rows(folder, query).map(\.id))
      case _ where folder == .latest:
        let ids = items.filter {
          followed.contains(EpisodeID.podcast(of: $0.key)) && !$0.value.episode.hidden
        }
        return mixed(newest(ids.map(\.key), Self.limit))
      case _ where folder == .subscriptions:
        return Set(followed.map { "Show \($0)" } + [PodcastTree.listName])
      default: return Set(found.map { "Show \($0)" })
      }
    }

    var folders: [NodeID] {
      [.latest, .queue, .downloading, .paused, .failed, .subscriptions, NodeID(.search, Self.search)]
        + Array(Self.queries.keys)
        + found.map { Self.result($0) } + followed.map { Self.subscription($0) }
    }
  }

  private static let states: [TransferState] = [.remote, .queued, .downloading, .paused, .failed, .cached]

  /// Changes the model at random.
  /// - Returns: the event that says so; nil where nothing has changed.
  private func change(_ model: inout Model, _ random: inout SeededGenerator) -> TreeEvent? {
    let podcast = Int64.random(in: 1...4, using: &random)
    let id = podcast << 20 | Int64.random(in: 0..<8, using: &random)
    switch Int.random(in: 0..<11, using: &random) {
    case 10:
      model.queue = model.queue.filter { $0 != id }
      if model.items[id] != nil, Bool.random(using: &random) {
        model.queue.insert(id, at: Int.random(in: 0...model.queue.count, using: &random))
      }
      return .queue(
        model.queue.enumerated().map { QueueEntry(episode: $1, place: $0 + 1) },
        episodes: model.queue.compactMap { model.listed($0) })
    case 0:
      model.followed =
        model.followed.contains(podcast)
        ? model.followed.filter { $0 != podcast } : model.followed + [podcast]
      return .subscriptions(model.followed.map { model.folder(Model.subscription($0), $0) }, FolderTimes())
    case 1:
      model.found =
        model.found.contains(podcast) ? model.found.filter { $0 != podcast } : model.found + [podcast]
      let shown = Dictionary(uniqueKeysWithValues: (1...4).map { ($0, model.results($0)) })
      return .results(
        search: Model.search, nil, model.found.map { model.folder(Model.result($0), $0) }, shown: shown)
    case 2:
      guard model.found.contains(podcast), model.items[id] != nil else { return nil }
      model.hidden[podcast, default: []].insert(id)
      return .hiddenInSearch(episode: id, result: Model.result(podcast).row)
    case 3...5:
      guard let key = model.items[id]?.episode.mediaKey else { return nil }
      let state = Self.states[Int.random(in: 0..<Self.states.count, using: &random)]
      model.items[id]?.state = state
      let status = TransferStatus(
        key: key, state: state, generation: UInt32.random(in: 1...3, using: &random))
      return .transfer(key, state == .remote && Bool.random(using: &random) ? nil : status, model.listed(id))
    case 6 where model.items[id] != nil:
      return .podcast(podcast, model.entry(podcast))
    default:
      let address = WebAddress("http://media.example/\(id).mp3")
      var episode = model.items[id]?.episode ?? Episode()
      if episode.id == 0 {
        (episode.id, episode.podcastID, episode.mediaKey) = (id, podcast, MediaKey(address: address))
        (episode.stem, episode.fileExtension) = ("2024-01-01 - Part \(id)", ".mp3")
        (episode.title, episode.enclosureURL) = ("Part \(id)", address)
        episode.published = Int64.random(in: 0...20, using: &random)
        episode.modified = episode.published
      }
      episode.hidden = Int.random(in: 0..<3, using: &random) == 0
      model.items[id, default: Model.Item(episode: episode)].episode = episode
      return model.listed(id).map { .episodes([$0]) }
    }
  }

  private func names(_ state: TreeState, _ folder: NodeID) -> Set<String>? {
    state.listings[folder].map { Set($0.items.map(\.name)) }
  }

  /// The suite runs a short form; `PODCASTFS_MODEL_SEEDS` makes it as long as one wishes.
  private static let seeds = getenv("PODCASTFS_MODEL_SEEDS").flatMap { UInt64(String(cString: $0)) } ?? 12

  @Test(arguments: 1...seeds) func `Directories list what a scan of all rows gives`(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var (model, state) = (Model(), TreeState(latest: Model.latest))
    let named = [(Model.search, "shows")] + Model.texts.enumerated().map { (901 + Int64($0), $1) }
    let searches = named.map { id, name in
      var search = Search()
      (search.id, search.name, search.source) = (id, name, "test")
      return search
    }
    _ = state.apply(.searches(searches, FolderTimes()))
    _ = state.apply(.results(search: Model.search, nil, [], shown: [:]))
    _ = state.apply(.subscriptions([], FolderTimes()))
    for view in state.views.queries.keys {
      if let query = state.views.query(of: view) { _ = state.apply(.view(view, [], query)) }
    }
    for step in 0..<400 {
      // As the reading side does before it applies an event.
      for podcast in Int64(1)...4 where state.podcasts[podcast]?.episodes == nil {
        state.podcasts[podcast] = model.entry(podcast)
      }
      let before = state.listings.mapValues { Set($0.items.map(\.name)) }
      guard let event = change(&model, &random) else { continue }
      var difference = state.apply(event)
      for view in state.views.queries.keys where state.views.isStale(view) ?? true {
        for podcast in Int64(1)...4 where state.podcasts[podcast]?.episodes == nil {
          state.podcasts[podcast] = model.entry(podcast)
        }
        guard let query = state.views.query(of: view) else { continue }
        difference.add(state.apply(.view(view, model.rows(view, query), query)))
      }
      for (folder, old) in before {
        guard let new = names(state, folder) else { continue }
        var told = old
        for name in difference.names where name.directory == folder {
          if name.event == .vanished { told.remove(name.name) } else { told.insert(name.name) }
        }
        #expect(told == new, "seed \(seed), step \(step), \(folder): \(event)")
        #expect(old == new || difference.listings.contains(folder), "seed \(seed), step \(step)")
      }
      let views = state.views.results.keys.filter { $0.kind == .downloadedPodcast }
      for folder in model.folders + views where Int.random(in: 0..<3, using: &random) == 0 {
        for podcast in Int64(1)...4 where state.podcasts[podcast]?.episodes == nil {
          state.podcasts[podcast] = model.entry(podcast)
        }
        let names = state.listing(of: folder).map { Set($0.items.map(\.name)) }
        #expect(names == model.names(in: folder), "seed \(seed), step \(step), \(folder): \(event)")
      }
      for (id, item) in model.items where item.state != .remote {
        guard let episode = state.episode(id) else { continue }
        let count = (model.folders + [Model.downloaded(episode.podcast)]).count { folder in
          folder.row % 100 == episode.podcast && folder.kind != .fixed && folder.kind != .search
            && model.names(in: folder).contains(episode.name)
        }
        let mixed = state.views.mixed.count { state.views[$0]?.name(of: id) != nil }
        #expect(state.linkCount(of: episode) == count + mixed)
      }
    }
  }
}
