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
  /// The last commit that a process before has told of; nil where there was none.
  private let lastCommitTold: Int64?
  let texts: OpenTexts
  /// Directories that the kernel locks for verbs under way, and how many of these.
  private let locked = Monitor<[NodeID: Int]>([:])
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
    let shown = (memory?.records ?? []).filter { $0.kind == .knownDirectory }
    if !shown.isEmpty {
      world.withLock { $0.inherited = Set(shown.map { NodeID(rawValue: $0.values[0]) }) }
    }
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
      loader.async { self.showTransfers(done) }
    }
    // What the process before has not told any more is told by this one: to who watches, too (`takeUpCommits`).
    if lastCommitTold == nil {
      followCommits(since: try? catalog.commits())
    } else {
      _ = try? loadSubscriptions()
    }
    loadDownloads()
  }

  private func followCommits(since seen: Int64?) {
    if let seen { events.note(commit: seen) }
    catalog.observe(since: seen) { [weak self] commit, done in
      guard let self else { return done() }
      loader.async { self.takeIn(commit, done) }
    }
  }

  /// To be called when those who hear of changes can be told, before anything is asked and anybody else hears of commits:
  /// goes on where a process before was.
  package func takeUpCommits() {
    if let lastCommitTold { followCommits(since: lastCommitTold) }
  }

  /// Takes in a commit of the catalogue; it counts as seen when every directory shows it and the kernel has been
  /// told, except of names in directories that the kernel locks for a verb that waits for this.
  private func takeIn(_ commit: CatalogCommit, _ done: @escaping @Sendable () -> Void) {
    // A refresh that has changed something: its feed is another one.
    if commit.changes.count > 1 {
      for case .refreshed(let podcast, _) in commit.changes { listMissing(ofPodcast: podcast) }
    }
    for change in commit.changes { catalogChanged(change) }
    events.note(commit: commit.number)
    let once = Once(done)
    settle(except: locked.withLock { Set($0.keys) }) { once.run() }
    loader.async(after: Self.patience) { once.run() }
  }

  /// How long a commit waits for the kernel to take in what has changed, in seconds: a directory whose lock is held
  /// by a program must not hold up verbs elsewhere.
  static let patience = 1.0

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
    // Names that it knows of the one are in the other now.
    world.withLock { $0.noteKnown(other) }
    observer.withLock { $0.kernel }?.moved(node, to: other)
  }

  /// Whether somebody may watch a directory.
  func isKnown(_ directory: NodeID) -> Bool { observer.withLock { $0.kernel }?.knows(directory) ?? false }

  var observerGauges: [Gauge] { observer.withLock { $0.kernel }?.gauges ?? [] }

  func tell(_ difference: Difference) {
    if difference.isEmpty { return }
    observer.withLock { $0.kernel }?.changed(difference)
  }

  /// A directory's listing is in memory from here on, and others' are no longer.
  func lists(_ directory: NodeID, _ listing: Listing, insteadOf others: [NodeID]) {
    guard let kernel = observer.withLock({ $0.kernel }) else { return }
    for other in others { kernel.listsNoMore(other) }
    kernel.lists(directory) { add in for item in listing.items { add(item.name, item.target.identity) } }
  }

  /// Calls `body` once, on any thread, when the kernel has been told of all that has changed so far.
  /// - Parameter directories: those whose lock the kernel holds for whoever waits for this.
  func settle(except directories: Set<NodeID>, _ body: @escaping @Sendable () -> Void) {
    guard let kernel = observer.withLock({ $0.kernel }) else { return body() }
    kernel.settle(except: directories) { body() }
  }

  // MARK: Commits

  /// Changes the catalogue by `work`; ends when that has come back as a commit.
  func commit<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) -> Answer<Value> {
    Answer.on(loader, work).then { value in self.seen.map { value } }
  }

  /// Ends when this mount shows what it has committed before. Other mounts follow by themselves.
  var seen: Answer<Void> {
    .pending { completion in
      let once = Once { completion(.success(())) }
      self.catalog.whenSeen { once.run() }
      self.loader.async(after: 2 * Self.patience) { once.run() }
      return {}
    }
  }

  /// The directories that the kernel locks for a verb while `answer` is awaited.
  func locking<Value: Sendable>(_ directories: Set<NodeID>, _ answer: Answer<Value>) -> Answer<Value> {
    guard case .pending(let start) = answer else { return answer }
    return .pending { completion in
      self.locked.withLock { locked in for directory in directories { locked[directory, default: 0] += 1 } }
      return start { result in
        self.locked.withLock { locked in
          for directory in directories {
            let left = (locked[directory] ?? 1) - 1
            locked[directory] = left > 0 ? left : nil
          }
        }
        completion(result)
      }
    }
  }

  /// Verbs that are under way.
  var verbGauges: [Gauge] {
    [Gauge("locked directories", locked.withLock { $0.count })]
  }

  /// Gives an order to the transfers; ends when what it has changed is shown.
  func order(
    of key: MediaKey, _ begin: @escaping @Sendable (@escaping OrderCompletion) -> any Cancellable
  ) -> Answer<Void> {
    Answer<Void>.order(begin).then {
      .pending { completion in
        self.loader.async {
          self.transferChanged(key)
          self.showTransfers { completion(.success(())) }
        }
        return {}
      }
    }
  }

  /// Calls `done` when every directory shows what the transfers have told so far, and the kernel knows. On the loader's
  /// thread.
  private func showTransfers(_ done: @escaping @Sendable () -> Void) {
    let once = Once(done)
    settle(except: locked.withLock { Set($0.keys) }) { once.run() }
    loader.async(after: Self.patience) { once.run() }
  }
}

/// Who tells the kernel what it has to forget, and those who watch a directory what has happened in it.
package protocol ViewObserver: AnyObject, Sendable {
  /// Called from the tree's own thread, in order.
  func changed(_ difference: Difference)
  /// A directory's listing is in memory: what changes in it is told in full from here on.
  /// - Parameter names: calls what it is given with each name that it lists, and what that leads to. For any thread, soon.
  func lists(_ directory: NodeID, _ names: @escaping @Sendable (_ add: (String, NodeID) -> Void) -> Void)
  /// A directory's listing had to make room.
  func listsNoMore(_ directory: NodeID)
  /// A directory has become another by rename(2): the kernel keeps the number that it has for it.
  func moved(_ node: NodeID, to other: NodeID)
  /// Whether the kernel has a directory in memory: somebody may watch it, listed or not.
  func knows(_ directory: NodeID) -> Bool
  /// Calls `body` when the kernel has taken in all differences so far.
  /// - Parameter directories: names in these are not waited for.
  func settle(except directories: Set<NodeID>, _ body: @escaping @Sendable () -> Void)
  var gauges: [Gauge] { get }
}

/// Runs its body the first time it is run.
final class Once: Sendable {
  private let body: Monitor<Callback<Void>?>
  init(_ body: @escaping @Sendable () -> Void) { self.body = Monitor(Callback(body)) }
  func run() {
    let first = body.withLock { body -> Callback<Void>? in
      defer { body = nil }
      return body
    }
    first?()
  }
}
