// How much a database takes on the disk.
extension Database {
  private static let pagesAtOnce: Int64 = 1000

  /// Bytes of the pages that hold something.
  package func usedBytes() throws(DatabaseError) -> Int64 {
    (try pragma("page_count") - pragma("freelist_count")) * (try pragma("page_size"))
  }

  /// Makes the file a little smaller, where a quarter of it or more holds nothing.
  /// - Parameter goesOn: it was worth while a moment ago.
  /// - Returns: whether there is more to give back.
  package func giveBackPages(goesOn: Bool) throws(DatabaseError) -> Bool {
    let (count, free) = (try pragma("page_count"), try pragma("freelist_count"))
    if free == 0 || (!goesOn && free * 4 < count) { return false }
    try script("PRAGMA incremental_vacuum(\(Self.pagesAtOnce))")
    return free > Self.pagesAtOnce
  }

  private func pragma(_ name: String) throws(DatabaseError) -> Int64 { try number("PRAGMA \(name)") ?? 0 }
}
