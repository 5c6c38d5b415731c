// How much a database takes on the disk.
extension Database {
  /// A file that is smaller is written anew where it cannot give back single pages.
  private static let vacuumLimit: Int64 = 256 << 20
  private static let pagesAtOnce = 1000

  /// Bytes of the pages that hold something.
  package func usedBytes() throws(DatabaseError) -> Int64 {
    (try number("page_count") - number("freelist_count")) * (try number("page_size"))
  }

  /// Makes the file smaller, where a quarter of it or more holds nothing.
  package func giveBackPages() throws(DatabaseError) {
    let (count, free) = (try number("page_count"), try number("freelist_count"))
    if free * 4 < count { return }
    if try number("auto_vacuum") == 2 {
      while try number("freelist_count") > 0 { try script("PRAGMA incremental_vacuum(\(Self.pagesAtOnce))") }
    } else if count * (try number("page_size")) <= Self.vacuumLimit {
      try script("PRAGMA auto_vacuum = incremental; VACUUM")
    }
    try checkpoint()
  }

  private func number(_ pragma: String) throws(DatabaseError) -> Int64 {
    try first("PRAGMA \(pragma)") { $0.int64(0) } ?? 0
  }
}
