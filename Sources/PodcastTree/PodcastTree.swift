internal import Catalog
package import Configuration
package import PodcastModel
package import PosixKit
package import TransferProtocol

/// The file system proper: nodes, views, names, attributes and verbs, in plain values. It knows no FUSE, and
/// nothing here waits for the network on a caller's thread.
///
/// A directory is a value made of what is known (`World`). Whatever changes what is known is taken in by `apply`,
/// on the tree's own thread, which makes new values of the directories that are touched; what the kernel has to
/// forget is their difference to the old ones (`Difference`). A verb commits, and ends when its commit has come
/// back that way.
package final class PodcastTree: Sendable {
  let catalog: any CatalogService
  let transfers: any TransferService
  let fetcher: any SidecarFetcher
  let sidecars: SidecarStore
  /// Those of subscriptions that are fetched though nobody has opened them.
  let coversOnTheirWay = Monitor<Set<SidecarKey>>([])
  let settings: Settings
  let places: Places
  package let owner: Owner
  let programs: any ProgramTable
  /// What the configuration file sets for single feeds, by `FeedKey`.
  let feeds: [String: FeedSettings]
  /// When it came up: the age of directories that have none of their own.
  let started = FileTime.now

  /// SQLite's thread: nothing on it waits for the network. All changes of the world are made on it.
  let loader = WorkQueue(name: "tree")
  let world = Monitor(World())
  let details = EpisodeDetails()
  let sweeps = Sweeps()
  let dropMarks: DropMarks
  let listReaders = RecentPrograms()
  let events: EventLog
  /// The last commit that was taken in.
  private let lastCommit = Monitor<Int64?>(nil)
  /// The last commit that a process before has told of; nil where there was none.
  private let lastCommitTold: Int64?
  let texts: OpenTexts
  private let observer = Monitor(Observer())
  private let completed = Monitor<Callback<(EpisodeEntry, TransferStatus)>?>(nil)

  private struct Observer {
    weak var kernel: (any ViewObserver)?
  }

  /// - Parameters:
  ///   - programs: tells which program a request comes from.
  ///   - memory: what the process that serves the mount next needs to know, and what the one before has left.
  package init(
    catalog: any CatalogService, transfers: any TransferService, fetcher: any SidecarFetcher,
    settings: Settings, places: Places, owner: Owner, programs: any ProgramTable = RunningPrograms(),
    memory: LastingMemory? = nil
  ) {
    dropMarks = DropMarks(memory: memory)
    events = EventLog(memory: memory)
    lastCommitTold = events.seenCommit
    texts = OpenTexts(directory: places.runtime + "/open-texts", isNeeded: memory != nil)
    self.catalog = catalog
    self.transfers = transfers
    self.fetcher = fetcher
    sidecars = SidecarStore(directory: SidecarCopies.directory(in: places))
    self.settings = settings
    self.places = places
    feeds = Dictionary(
      settings.feeds.map { (FeedKey.text(WebAddress($0.key)), $0.value) },
      uniquingKeysWith: { first, _ in first })
    self.owner = owner
    self.programs = programs
    let dropped = dropMarks.all
    if !dropped.isEmpty {
      world.withLock { world in
        world.open.dropsAtClose = dropped
        world.open.isTakingOver = true
      }
    }
    // Before anything else that runs there: what is asked for meanwhile waits for it.
    loader.async { self.begin() }
  }

  /// Takes in what the transfers know, and from then on what changes. On the loader's thread.
  private func begin() {
    transfers.observe { [weak self] key in
      guard let self else { return }
      loader.async { self.transferChanged(key) }
    } settle: { [weak self] done in
      guard let self else { return done() }
      loader.async { done() }
    }
    // What the process before has not told any more is told by this one: to who watches, too (`takeUpCommits`).
    if lastCommitTold == nil {
      followCommits(since: try? catalog.commits())
    } else {
      _ = try? loadSubscriptions()
    }
    loadDownloads()
  }

  /// - Parameter seen: commits after this one are taken in; nil where the catalogue can't be read at this moment.
  private func followCommits(since seen: Int64?) {
    lastCommit.withLock { $0 = seen }
    if let seen { events.note(commit: seen) }
    catalog.observe { [weak self] done in
      guard let self else { return done() }
      loader.async {
        self.takeInCommits()
        done()
      }
    }
  }

  /// To be called when those who hear of changes can be told, before anything is asked and anybody else hears of commits:
  /// goes on where a process before was.
  package func takeUpCommits() {
    if let lastCommitTold { followCommits(since: lastCommitTold) }
  }

  /// Takes in what has been committed since the last call, by any process: from then on every directory shows it. On the
  /// loader's thread.
  func takeInCommits() {
    let seen = lastCommit.withLock { $0 }
    guard let seen else { return lastCommit.withLock { $0 = try? catalog.commits() } }
    for commit in (try? catalog.commits(after: seen)) ?? [] {
      // A refresh that has changed something: its feed is another one.
      if commit.changes.count > 1 {
        for case .refreshed(let podcast, _) in commit.changes { listMissing(ofPodcast: podcast) }
      }
      for change in commit.changes { catalogChanged(change) }
      lastCommit.withLock { $0 = commit.number }
      events.note(commit: commit.number)
    }
  }

  /// Sees to what the configuration wants to be here.
  package func keepWhatIsWanted() {
    loader.async { [self] in
      _ = try? loadSubscriptions()
      for folder in world.withLock({ $0.subscriptions ?? [] }) {
        try? keepEpisodes(ofPodcast: folder.podcast)
      }
    }
  }

  /// The podcast that an episode belongs to: its number says so.
  static func podcast(ofEpisode id: Int64) -> Int64 { EpisodeID.podcast(of: id) }

  // MARK: Who hears of changes

  /// Says who tells the kernel, and those who watch; held weakly.
  package func observe(_ observer: any ViewObserver) { self.observer.withLock { $0.kernel = observer } }

  /// Says who hears of downloads that become complete while the tree is up; called from the tree's own thread,
  /// which it must not hold up.
  package func onCompletion(_ handler: @escaping @Sendable (EpisodeEntry, TransferStatus) -> Void) {
    completed.withLock { $0 = Callback { handler($0.0, $0.1) } }
  }

  func tellCompletion(_ entry: EpisodeEntry, _ status: TransferStatus) {
    completed.withLock { $0 }?((entry, status))
  }

  var tellsCompletions: Bool { completed.withLock { $0 != nil } }

  /// The kernel moves a node to the name of what it has become.
  func moved(_ node: NodeID, to other: NodeID) {
    observer.withLock { $0.kernel }?.moved(node, to: other)
  }

  var observerGauges: [Gauge] { observer.withLock { $0.kernel }?.gauges ?? [] }

  func tell(_ difference: Difference) {
    if difference.isEmpty { return }
    observer.withLock { $0.kernel }?.changed(difference)
  }

  // MARK: Commits

  /// Changes the catalogue by `work`; ends when every directory shows it.
  func commit<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) -> Answer<Value> {
    .on(loader) {
      let value = try work()
      self.takeInCommits()
      return value
    }
  }

  /// Ends when every directory shows what has been committed before.
  var seen: Answer<Void> { .on(loader) { self.takeInCommits() } }

  /// Gives an order to the transfers; ends when what it has changed is shown.
  func order(
    of key: MediaKey, _ begin: @escaping @Sendable (@escaping OrderCompletion) -> any Cancellable
  ) -> Answer<Void> {
    Answer<Void>.order(begin).then {
      .on(self.loader) { self.transferChanged(key) }
    }
  }
}

/// Who tells the kernel what it has to forget, and those who watch a directory what has happened in it.
package protocol ViewObserver: AnyObject, Sendable {
  /// Called from the tree's own thread, in order.
  func changed(_ difference: Difference)
  /// A directory has become another by rename(2): the kernel keeps the number that it has for it.
  func moved(_ node: NodeID, to other: NodeID)
  var gauges: [Gauge] { get }
}
