// How much a database takes on the disk.
extension Database {
  /// A file that is smaller is written anew where it cannot give back single pages.
  private static let vacuumLimit: Int64 = 256 << 20
  private static let pagesAtOnce: Int64 = 1000

  /// Bytes of the pages that hold something.
  package func usedBytes() throws(DatabaseError) -> Int64 {
    (try number("page_count") - number("freelist_count")) * (try number("page_size"))
  }

  /// Makes the file a little smaller, where a quarter of it or more holds nothing.
  /// - Parameter goesOn: it was worth while a moment ago.
  /// - Returns: whether there is more to give back.
  package func giveBackPages(goesOn: Bool) throws(DatabaseError) -> Bool {
    let (count, free) = (try number("page_count"), try number("freelist_count"))
    if free == 0 || (!goesOn && free * 4 < count) { return false }
    if try number("auto_vacuum") == 2 {
      try script("PRAGMA incremental_vacuum(\(Self.pagesAtOnce))")
      return free > Self.pagesAtOnce
    }
    if count * (try number("page_size")) <= Self.vacuumLimit {
      try script("PRAGMA auto_vacuum = incremental; VACUUM")
    }
    return false
  }

  private func number(_ pragma: String) throws(DatabaseError) -> Int64 {
    try first("PRAGMA \(pragma)") { $0.int64(0) } ?? 0
  }
}
