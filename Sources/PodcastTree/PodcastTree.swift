package import Catalog
package import Configuration
package import PodcastModel
internal import PosixKit
internal import Transcripts
package import TransferProtocol

/// The file system proper: nodes, views, names, attributes and verbs. It knows no FUSE, and nothing here waits for the
/// network on a caller's thread.
///
/// A directory is an immutable value made of the state in memory (`TreeState`). Only the tree's own thread changes rows of
/// that state: it reads commits and states of downloads, and applies them as events. The kernel forgets the difference
/// between old and new (`Difference`). A verb commits, takes its commit in, and ends.
package final class PodcastTree: Sendable {
  let catalog: Catalog
  let transfers: any TransferService
  let fetcher: any SidecarFetcher
  let sidecars: SidecarStore
  let ownTranscripts: OwnTranscripts
  /// Fills the index of transcripts, at a low priority.
  let transcriptThread = WorkQueue(name: "transcripts", courtesy: 10)
  /// Waits for covers and transcripts that are fetched though no program has opened them.
  let ahead = WorkQueue(name: "ahead", courtesy: 10)
  let settings: Settings
  let places: Places
  package let owner: Owner
  let programs: any ProgramTable
  /// Directories that have no time of their own show it.
  let started = FileTime.now

  /// The tree's own thread. It may wait for SQLite, never for the network.
  let loader = WorkQueue(name: "tree", isPermanent: true)
  let state: Monitor<TreeState>
  let details = EpisodeDetails()
  let sweeps = Sweeps()
  let events = EventLog()
  let lastCommit = Monitor<Int64?>(nil)
  private let observer = Monitor(Observer())
  private struct Observer { weak var kernel: (any ViewObserver)? }
  let completed = Monitor<Callback<(EpisodeEntry, TransferStatus)>?>(nil)

  package init(
    catalog: Catalog, transfers: any TransferService, fetcher: any SidecarFetcher,
    settings: Settings, places: Places, owner: Owner, programs: any ProgramTable = RunningPrograms()
  ) {
    (self.catalog, self.transfers, self.fetcher) = (catalog, transfers, fetcher)
    sidecars = SidecarStore(directory: SidecarCopies.directory(in: places))
    ownTranscripts = OwnTranscripts(data: places.data)
    self.settings = settings
    state = Monitor(TreeState(latest: .latest(settings.latest, days: settings.latestDays)))
    (self.places, self.owner, self.programs) = (places, owner, programs)
    // Before anything else that runs there: what is asked for meanwhile waits for it.
    loader.async { self.begin() }
  }

  /// Takes in what the transfers know, and from then on what changes. On the loader's thread.
  private func begin() {
    transfers.observe { [weak self] key in
      guard let self else { return }
      loader.async { self.transferChanged(key) }
    }
    lastCommit.withLock { $0 = try? catalog.commits() }
    catalog.observe { [weak self] in
      guard let self else { return }
      loader.async { self.takeInCommits() }
    }
    loadDownloads()
    try? readQueue(isFirst: true)
    try? downloadAhead()
  }

  /// Somebody has opened, marked or ordered an episode: the rules of its subscription leave it alone from then on.
  func noteByHand(_ episode: Int64) { loader.async { try? self.catalog.noteByHand(episode: episode) } }

  /// Sets the observer that tells the kernel and watchers; held weakly.
  package func observe(_ observer: any ViewObserver) { self.observer.withLock { $0.kernel = observer } }

  /// Sets the handler of downloads that become complete. It runs on the tree's own thread and must return soon.
  package func onCompletion(_ handler: @escaping @Sendable (EpisodeEntry, TransferStatus) -> Void) {
    completed.withLock { $0 = Callback { handler($0.0, $0.1) } }
  }

  var kernel: (any ViewObserver)? { observer.withLock { $0.kernel } }
  func tell(_ difference: Difference) { if !difference.isEmpty { kernel?.changed(difference) } }

  /// Changes the catalogue by `work`; ends when every directory shows it.
  func commit<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) -> Answer<Value> {
    .on(loader) {
      let value = try work()
      self.takeInCommits()
      return value
    }
  }

  /// Gives an order to the transfers; ends when what it has changed is shown.
  func order(_ order: TransferOrder) -> Answer<Void> {
    Answer<Void>.task { completion in
      self.transfers.order(order) { completion($0.map { .failure($0) } ?? .success(())) }
    }.then { .on(self.loader) { self.transferChanged(order.key) } }
  }
}

/// Tells the kernel what to forget, and watchers of a directory what has happened in it.
package protocol ViewObserver: AnyObject, Sendable {
  /// Called from the tree's own thread, in order.
  func changed(_ difference: Difference)
  /// A directory has become another by rename(2): the kernel keeps the number that it has for it.
  func moved(_ node: NodeID, to other: NodeID)
  var gauges: [Gauge] { get }
}
