internal import PosixKit
internal import SQLiteKit
internal import TransferStore

extension TransferStore {
  /// Gives `use` the store in `state`. Where that turns out to be damaged or of another version, sets it aside and gives
  /// `use` an empty one.
  /// - Throws: what `use` throws, and `DatabaseError`.
  static func with<R>(
    _ state: String, _ log: LogFile, _ use: (consuming sending TransferStore) throws -> R
  ) throws -> R {
    do {
      return try use(try TransferStore(state: state))
    } catch let error as DatabaseError where error.isDamaged || error.isOfOtherShape || error.isOfOtherVersion
    {
      let kept = setAside(in: state)
      log.write("the database of downloads cannot be used (\(error.message)): set aside as \(kept)")
      return try use(try TransferStore(state: state))
    }
  }
}
