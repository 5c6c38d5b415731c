internal import EpisodeCache
internal import Glibc
internal import PosixKit
internal import SQLiteKit
internal import TransferProtocol
internal import TransferStore

/// Opens the daemon's memory, and makes it anew from the cache where it is lost or damaged.
struct StoreOpening {
  let state: String
  let layout: CacheLayout
  let log: LogFile

  /// Gives `use` the store; once more, after the store has been set aside, where it turns out to be damaged.
  /// - Throws: what `use` throws, and `DatabaseError`.
  func withStore<R>(_ use: (consuming sending TransferStore) throws -> R) throws -> R {
    setStrangersAside()
    do {
      return try use(try open())
    } catch let error as DatabaseError where error.isDamaged {
      setAside(error.message)
      return try use(try open())
    }
  }

  private func open() throws -> sending TransferStore {
    let store = try TransferStore(state: state)
    guard try store.isEmpty() else { return store }
    var records = Adoption.records(of: layout)
    if records.isEmpty { return store }
    for index in records.indices { records[index].order = Int64(index) + 1 }
    try store.save(records)
    log.write("the store of downloads was empty: taken up \(records.count) episodes that the cache holds")
    return store
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
