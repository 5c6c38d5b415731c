import Catalog
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
      var podcast = Podcast(
        id: id, feedURL: WebAddress("http://feeds.example/\(id)"), title: "Show \(id)", name: "Show \(id)")
      podcast.lastRefresh = 1
      return podcast
    }
    var items: [Int64: Item] = [:]
    var followed: [Int64] = []
    /// The podcasts that the one search has found.
    var found: [Int64] = []
    /// By podcast: what is hidden in its result.
    var hidden: [Int64: Set<Int64>] = [:]
    static let search: Int64 = 900
    static let limit = 5

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
      Folder(ListedPodcast(id: node.row, name: "Show \(podcast)", podcast: podcasts[Int(podcast) - 1]))
    }
    func rows(_ state: TreeState) -> [Query.Row] {
      let shown = items.keys.filter {
        followed.contains(EpisodeID.podcast(of: $0)) && items[$0]?.episode.hidden == false
      }
      return newest(shown, Self.limit * 2).compactMap { listed($0) }.compactMap { state.row(of: $0) }
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
        return mixed(items.filter { $0.value.state.stage == .underWay }.map(\.key))
      case _ where folder == .latest:
        let ids = items.filter {
          followed.contains(EpisodeID.podcast(of: $0.key)) && !$0.value.episode.hidden
        }
        return mixed(newest(ids.map(\.key), Self.limit))
      case _ where folder == .subscriptions:
        return Set(followed.map { "Show \($0)" } + [SubscriptionsFolder.listName])
      default: return Set(found.map { "Show \($0)" })
      }
    }

    var folders: [NodeID] {
      [.latest, .downloading, .subscriptions, NodeID(.search, Self.search)]
        + found.map { Self.result($0) } + followed.map { Self.subscription($0) }
    }
  }

  private static let states: [TransferState] = [.remote, .queued, .downloading, .paused, .failed, .cached]

  /// Changes the model at random.
  /// - Returns: the event that says so; nil where nothing has changed.
  private func change(_ model: inout Model, _ random: inout SeededGenerator) -> TreeEvent? {
    let podcast = Int64.random(in: 1...4, using: &random)
    let id = podcast << 20 | Int64.random(in: 0..<8, using: &random)
    switch Int.random(in: 0..<10, using: &random) {
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
      var episode =
        model.items[id]?.episode
        ?? Episode(
          id: id, podcastID: podcast, mediaKey: MediaKey(address: address), stem: "2024-01-01 - Part \(id)",
          fileExtension: ".mp3", title: "Part \(id)", published: Int64.random(in: 0...20, using: &random),
          enclosureURL: address)
      episode.hidden = Int.random(in: 0..<3, using: &random) == 0
      model.items[id, default: Model.Item(episode: episode)].episode = episode
      return model.listed(id).map { .episodes([$0]) }
    }
  }

  private func names(_ state: TreeState, _ folder: NodeID) -> Set<String>? {
    state.listings[folder].map { Set($0.items.map(\.name)) }
  }

  @Test(arguments: 1...40) func `Directories list what a scan of all rows gives`(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var (model, state) = (Model(), TreeState())
    state.searches = [Search(id: Model.search, name: "shows", resultCount: 0, source: "test", searched: 0)]
    _ = state.apply(.results(search: Model.search, nil, [], shown: [:]))
    _ = state.apply(.subscriptions([], FolderTimes()))
    _ = state.apply(.latest([], Query.latest(Model.limit)))
    for step in 0..<400 {
      // As the reading side does before it applies an event.
      for podcast in Int64(1)...4 where state.podcasts[podcast]?.episodes == nil {
        state.podcasts[podcast] = model.entry(podcast)
      }
      let before = state.listings.mapValues { Set($0.items.map(\.name)) }
      guard let event = change(&model, &random) else { continue }
      var difference = state.apply(event)
      if state.isLatestStale || state.views[.latest]?.isShort == true {
        for podcast in Int64(1)...4 where state.podcasts[podcast]?.episodes == nil {
          state.podcasts[podcast] = model.entry(podcast)
        }
        difference.add(state.apply(.latest(model.rows(state), Query.latest(Model.limit))))
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
      let views = state.views.keys.filter { $0.kind == .downloadedPodcast }
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
        let isLatest = state.views[.latest]?.name(of: id) != nil
        let isUnderWay = item.state.stage == .underWay
        #expect(state.linkCount(of: episode) == count + (isLatest ? 1 : 0) + (isUnderWay ? 1 : 0))
      }
    }
  }
}
