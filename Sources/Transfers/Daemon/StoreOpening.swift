internal import EpisodeCache
internal import Glibc
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit
internal import TransferProtocol
internal import TransferStore

/// Opens the daemon's memory, and makes it anew from the cache where it is lost or damaged.
struct StoreOpening {
  let state: String
  let layout: CacheLayout
  let log: LogFile

  /// The store, and what the cache knew beyond it.
  struct Opened: ~Copyable {
    var store: TransferStore
    /// Taken up beside what the store knew: still to be compared with their checksums.
    var found: [TransferRecord] = []
    /// Those whose journals have not heard of the latest order.
    var untold: Set<MediaKey> = []
    /// Whether it knows all that the journals do.
    var isUpToDate = true
  }

  /// Gives `use` the store; once more, after the store has been set aside, where it turns out to be damaged.
  /// - Throws: what `use` throws, and `DatabaseError`.
  func withStore<R>(_ use: (consuming sending Opened) throws -> R) throws -> R {
    setStrangersAside()
    do {
      return try use(try open())
    } catch let error as DatabaseError where error.isDamaged || error.isOfOtherShape {
      setAside(error.message)
      return try use(try open())
    }
  }

  private func open() throws -> sending Opened {
    let store = try TransferStore(state: state)
    let seal = layout.seal
    // Before anything changes: who is killed from now on leaves none.
    layout.set(seal: nil)
    if let seal, try store.seal() == seal { return Opened(store: store) }
    let known = try store.records()
    var found = Adoption.records(of: layout, besides: Set(known.map(\.key)))
    let comparison = Adoption.comparison(of: known, with: layout)
    let untold = comparison.untold
    var corrected = comparison.corrected
    var last = known.map(\.order).max() ?? 0
    let wanted = Set(known.filter(\.isUnfinished).map(\.key))
    for index in corrected.indices {
      guard corrected[index].isUnfinished, !wanted.contains(corrected[index].key) else { continue }
      last += 1
      corrected[index].order = last
    }
    for index in found.indices {
      last += 1
      found[index].order = last
    }
    if found.isEmpty && corrected.isEmpty { return Opened(store: store, untold: untold) }
    do {
      try store.save(found + corrected)
    } catch let error as DatabaseError where !(error.isDamaged || error.isOfOtherShape) {
      log.write("cannot remember what the cache knows beyond the store of downloads: \(error)")
      return Opened(store: store, untold: untold, isUpToDate: false)
    }
    if known.isEmpty {
      log.write("the store of downloads was empty: taken up \(found.count) episodes that the cache holds")
      return Opened(store: store)
    }
    if !found.isEmpty {
      log.write("found \(found.count) episodes in the cache that the store did not know")
    }
    if !corrected.isEmpty {
      log.write("the cache knew more of \(corrected.count) episodes than the store: brought up to date")
    }
    return Opened(store: store, found: found, untold: untold)
  }

  private func setStrangersAside() {
    for stranger in TransferStore.strangers(in: state) {
      switch stranger {
      case .ofMemory(let path): return setAside("\(path) is no regular file")
      case .ofHelper(let path, let suffix):
        // One that stays is named when the store is opened.
        guard let kept = TransferStore.setAside(suffix, in: state) else { continue }
        log.write("\(path) is no regular file: set aside as \(kept)")
      }
    }
  }

  private func setAside(_ why: String) {
    let kept = TransferStore.setAside(in: state)
    log.write("the store of downloads is damaged (\(why)): set aside as \(kept)")
  }
}
