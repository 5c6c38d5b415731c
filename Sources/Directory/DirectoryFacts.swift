/// What a directory was made of.
package struct DirectoryFacts: Hashable, Sendable {
  package var podcasts = 0
  /// Rows of the dump without a title or a feed's address.
  package var refused = 0
  /// When it was made here, in seconds since 1970.
  package var made: Int64 = 0
  /// The date of the newest episode that it knows of: about the time of the dump.
  package var newest: Int64 = 0
  /// The file's name or the address that it came from.
  package var source = ""
  /// What tells this dump from the next one: the ETag, the date and the length that its server gave.
  package var identity: String?
  /// Bytes of its file.
  package var bytes: Int64 = 0

  package init() {}
}
