// The number of a file's version (https://sqlite.org/fileformat2.html#user_version_number) is there twice: a bit of it that
// is another one makes the file neither a newer program's nor an empty one.
extension Database {
  /// Brings the schema up to date: step N makes version N + 1 of version N. Several processes may try at once; a step runs
  /// once, and wholly or not at all.
  /// - Parameter unmarked: so many steps programs knew that wrote the number once only.
  /// - Throws: `DatabaseError`, also where the file is of a later version than `steps` lead to, or of none.
  package func migrate(_ steps: [(Database) throws -> Void], unmarked: Int = 0) throws {
    let numbers = try numbers()
    if numbers == Numbers(of: steps.count) { return }
    do {
      try transaction {
        let found = try genuineVersion(unmarked: unmarked)
        guard found <= steps.count else {
          throw DatabaseError.schemaTooNew(found: Int64(found), known: steps.count)
        }
        for step in steps[found...] { try step(self) }
        let numbers = Numbers(of: steps.count)
        try script("PRAGMA user_version = \(numbers.version); PRAGMA application_id = \(numbers.mark)")
      }
    } catch {
      // Only that could not be written down.
      if numbers.version(unmarked: unmarked) != steps.count { throw error }
    }
  }

  /// Whether its version is one that a program has written, also a later one.
  /// - Parameter unmarked: as in `migrate`.
  package func isVersionGenuine(unmarked: Int) throws(DatabaseError) -> Bool {
    try numbers().version(unmarked: unmarked) != nil
  }

  private func genuineVersion(unmarked: Int) throws(DatabaseError) -> Int {
    let numbers = try numbers()
    guard let version = numbers.version(unmarked: unmarked) else {
      throw .versionDamaged(found: numbers.version)
    }
    return version
  }

  private func numbers() throws(DatabaseError) -> Numbers {
    Numbers(
      version: Int32(truncatingIfNeeded: try first("PRAGMA user_version") { $0.int64(0) } ?? 0),
      mark: Int32(truncatingIfNeeded: try first("PRAGMA application_id") { $0.int64(0) } ?? 0))
  }

  /// The two places of the number, as the file's header has them.
  private struct Numbers: Equatable {
    var version: Int32
    /// The number, and above it each bit of it reversed: no other bit makes another one of that. 0 where a program has
    /// written it that did not know of this.
    var mark: Int32

    init(version: Int32, mark: Int32) {
      self.version = version
      self.mark = mark
    }

    init(of version: Int) {
      let low = UInt16(version)
      self.version = Int32(version)
      mark = Int32(bitPattern: UInt32(~low) << 16 | UInt32(low))
    }

    private var marked: Int? {
      let bits = UInt32(bitPattern: mark)
      let low = UInt16(truncatingIfNeeded: bits)
      return UInt16(bits >> 16) == ~low ? Int(low) : nil
    }

    /// nil where it is none that anybody has written.
    func version(unmarked: Int) -> Int? {
      if let marked { return marked }
      let most = mark == 0 ? Int32(unmarked) : .max
      return version >= 0 && version <= most ? Int(version) : nil
    }
  }
}
