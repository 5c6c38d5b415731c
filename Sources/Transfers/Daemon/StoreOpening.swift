internal import PosixKit
internal import SQLiteKit
internal import TransferProtocol
internal import TransferStore

/// Opens the daemon's memory, and begins it anew where it is damaged or of another version.
struct StoreOpening {
  let state: String
  let log: LogFile

  /// Gives `use` the store; once more, after the store has been set aside, where it turns out to be damaged or of another
  /// version.
  /// - Throws: what `use` throws, and `DatabaseError`.
  func withStore<R>(_ use: (consuming sending TransferStore) throws -> R) throws -> R {
    setStrangersAside()
    do {
      return try use(try TransferStore(state: state))
    } catch let error as DatabaseError where error.isDamaged || error.isOfOtherShape || error.isOfOtherVersion
    {
      setAside(error.message)
      return try use(try TransferStore(state: state))
    }
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
    log.write("the store of downloads cannot be used (\(why)): set aside as \(kept)")
  }
}
