internal import Catalog
internal import MountService
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// Episodes of the catalogue as commands show them: with where they are in a mount, and how far their downloads are.
struct KnownEpisodes {
  struct One {
    let entry: EpisodeEntry
    /// In the mount; nil where nothing is mounted, or no podcast's folder shows the episode.
    let path: String?
    let state: TransferState

    /// "2024-01-03  Harbour Lights — A quiet harbour".
    var name: String {
      let date = CivilTime.date(entry.episode.published)
      return PrintableText.line("\(date)  \(entry.podcast.title) — \(entry.episode.title)")
    }

    /// The name, and how long it is.
    var text: String {
      name + (entry.episode.duration.map { "  \(HumanText.duration(Int64($0)))" } ?? "")
    }

    /// - Parameter more: members that only this command has.
    func json(_ more: [(String, JSONValue)] = []) -> JSONValue {
      let episode = entry.episode
      let own = JSONValue.members([
        "path": path, "show": entry.podcast.title, "title": episode.title,
        "published": episode.isDated ? CivilTime.iso8601(episode.published) : nil,
        "duration": episode.duration, "played": episode.played,
        "position": Double(episode.listening.position) / 1000, "state": state.name,
      ])
      guard case .object(let members) = own else { return own }
      return .object(more + members)
    }
  }

  private let catalog: Catalog
  private let statuses: [MediaKey: TransferStatus]
  /// The mount that shows the catalogue; nil where there is none.
  private let root: String?

  init(_ session: CatalogSession) throws {
    catalog = session.catalog
    statuses = try session.statuses()
    root = MountServer.mountPoints(places: session.places).min()
  }

  /// Shows episodes, each behind a text of its own, and with `--json` with a member of its own.
  func show(
    _ all: [One], orSay nothing: String, _ mark: (One) -> (key: String, value: JSONValue, text: String)
  ) {
    let marked = all.map { ($0, mark($0)) }
    StandardStreams.show(.array(marked.map { one, mark in one.json([(mark.key, mark.value)]) })) {
      for (one, mark) in marked { StandardStreams.tell(mark.text + one.text, hanging: 5) }
      if all.isEmpty { StandardStreams.complain(nothing) }
    }
  }

  /// Those that a query selects, in its order.
  func selected(by query: EpisodeQuery) throws -> [One] {
    let entries = try catalog.entries(forKeys: Array(statuses.keys))
    var downloads: [EpisodeQuery.State: Set<Int64>] = [:]
    for state in EpisodeQuery.State.allCases where state.isOfDownload && query.concerns(state) {
      let having = entries.filter { key, _ in statuses[key].map { Self.isIn(state, $0) } ?? false }
      downloads[state] = Set(having.map(\.value.episode.id))
    }
    return try all(catalog.episodes(selectedBy: query, downloads: downloads, limit: query.limit).map(\.id))
  }

  private static func isIn(_ state: EpisodeQuery.State, _ status: TransferStatus) -> Bool {
    switch state {
    case .cached: status.stage == .complete
    case .kept: status.isKept
    case .downloading: status.stage == .running
    case .paused: status.stage == .paused
    case .failed: status.stage == .failed
    default: false
    }
  }

  func all(_ ids: [Int64]) throws -> [One] {
    let episodes = try catalog.episodes(ids)
    let byID = Dictionary(episodes.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    let podcasts = try catalog.podcasts(Array(Set(episodes.map(\.podcastID))))
    let podcast = Dictionary(podcasts.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    let folders = try folders(of: Array(podcast.keys))
    return ids.compactMap { byID[$0] }.compactMap { episode in
      guard let podcast = podcast[episode.podcastID] else { return nil }
      let state = statuses[episode.mediaKey]?.state ?? .remote
      let folder = folders[podcast.id].flatMap { folder in
        folder.hidden?.contains(episode.id) ?? episode.hidden ? nil : folder.path
      }
      let shown = folder ?? (state == .cached ? "Downloaded/\(podcast.name)" : nil)
      return One(
        entry: EpisodeEntry(episode: episode, podcast: podcast),
        path: root.flatMap { root in shown.map { "\(root)/\($0)/\(episode.fileName)" } }, state: state)
    }
  }

  /// In the mount, and the episodes that it does not show: nil for those that are hidden in the show.
  private typealias Folder = (path: String, hidden: Set<Int64>?)

  /// By podcast: the folder that shows its episodes, a subscription's before a search's.
  private func folders(of podcasts: [Int64]) throws -> [Int64: Folder] {
    var folders: [Int64: Folder] = [:]
    for listed in try catalog.subscriptions() {
      folders[listed.podcast.id] = ("Subscriptions/\(listed.name)", nil)
    }
    let results = try catalog.results(showing: podcasts.filter { folders[$0] == nil })
    for search in results.isEmpty ? [] : try catalog.searches() {
      let above = search.category.map {
        ["Discover", $0, search.language].compactMap(\.self).joined(separator: "/")
      }
      for listed in try catalog.results(ofSearch: search.id) where folders[listed.podcast.id] == nil {
        let hidden = results[listed.podcast.id]?[listed.id] ?? []
        folders[listed.podcast.id] = ("\(above ?? "Search/\(search.name)")/\(listed.name)", hidden)
      }
    }
    return folders
  }
}
