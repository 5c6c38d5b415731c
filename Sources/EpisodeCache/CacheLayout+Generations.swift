internal import Glibc
package import PodcastModel
package import PosixKit

/// A generation of which no byte is left: its number, and what it was of.
package struct FormerGeneration: Hashable, Sendable {
  package var number: UInt32
  package var representation: Representation
}

/// A generation as its files tell of it.
package struct StoredGeneration: Sendable {
  package var key: MediaKey
  package var number: UInt32
  package var journal: RangeJournal
  /// Whether all of it is on the disk, by its journal's word.
  package var isComplete: Bool
}

// Generations come and go; their numbers are given once. (The kernel's pages of the bytes that had a number may
// outlive the daemon, the store and the bytes.)
extension CacheLayout {
  /// What a key's last generation was, where its bytes have been dropped.
  private func formerPath(_ key: MediaKey) -> String { "\(episodes)/\(key).former" }

  /// For what is to leave no trace: whoever names it again does so as another episode.
  package func forgetFormer(_ key: MediaKey) {
    unlink(formerPath(key))
    unlink(formerPath(key) + Self.unfinished)
  }

  package func former(_ key: MediaKey) -> FormerGeneration? {
    guard let bytes = try? Directories.readRegular(formerPath(key), limit: 65_536),
      let (first, size) = JournalRecord.decode(bytes[...]), case .identity(let number) = first,
      let number = UInt32(exactly: number),
      let (second, _) = JournalRecord.decode(bytes.dropFirst(size)), case .representation(let of) = second
    else { return nil }
    return FormerGeneration(number: number, representation: of)
  }

  /// Takes a generation's names away like `remove`, and remembers that its number was given. Before anything goes:
  /// who is killed in the middle has at least that.
  /// - Returns: as `remove`.
  @discardableResult
  package func drop(_ key: MediaKey, _ generation: UInt32) -> (hadDirectory: Bool, failure: Errno?) {
    let journal = RangeJournal(reading: self.journal(key, generation))
    // Where the cache folder has been deleted the store knows the number.
    guard journal.length > 0 || hasData(key, generation) else { return remove(key, generation) }
    remember(
      FormerGeneration(number: generation, representation: journal.representation ?? Representation()), key)
    return remove(key, generation)
  }

  private func remember(_ former: FormerGeneration, _ key: MediaKey) {
    if let known = self.former(key), known.number > former.number { return }
    let path = formerPath(key)
    let temporary = path + Self.unfinished
    let bytes =
      JournalRecord.identity(UInt64(former.number)).encoded
      + JournalRecord.representation(former.representation).encoded
    // Not for a power loss, after which the kernel has no pages: nobody waits for the disk.
    unlink(temporary)
    guard
      let file = try? FileDescriptor(openingRegular: temporary, O_WRONLY | O_CREAT | O_EXCL),
      (try? file.write(bytes, at: 0)) != nil
    else {
      unlink(temporary)
      return
    }
    if rename(temporary, path) != 0 { unlink(temporary) }
  }

  /// Where a later generation's files tell its number.
  func forgetFormer(_ key: MediaKey, below number: UInt32) {
    if hasData(key, number) { unlink(formerPath(key)) }
  }

  /// Forgets the numbers of generations dropped more than `age` seconds ago: nobody's kernel has pages of them.
  package func forgetFormer(olderThan age: Int64, now: Int64) {
    for name in (try? Directories.names(in: episodes)) ?? [] where name.hasSuffix(".former") {
      var status = stat()
      let path = episodes + "/" + name
      if lstat(path, &status) == 0, Int64(status.st_mtim.tv_sec) < now - age { unlink(path) }
    }
  }

  /// All generations with a data file and a journal that says what it is of, each read when its turn comes: the latest
  /// of each key that `isWanted`.
  package func storedGenerations(
    where isWanted: @escaping (MediaKey) -> Bool
  ) -> some Sequence<StoredGeneration> {
    generations().lazy.filter { isWanted($0.key) }.compactMap { storedGeneration($0.key, $0.value) }
  }

  private func storedGeneration(_ key: MediaKey, _ numbers: Set<UInt32>) -> StoredGeneration? {
    for number in numbers.sorted(by: >) where hasData(key, number) {
      let journal = RangeJournal(reading: self.journal(key, number))
      guard let representation = journal.representation else { continue }
      var status = stat()
      guard lstat(data(key, number), &status) == 0 else { continue }
      let end = Int64(status.st_size)
      let isComplete = representation.total.map { $0 <= end && journal.durable.contains(0..<$0) } ?? false
      return StoredGeneration(key: key, number: number, journal: journal, isComplete: isComplete)
    }
    return nil
  }
}

extension EpisodeWriter {
  /// Begins a generation with a number above `known`, never given to other bytes: the number of one that was
  /// dropped, where this is of the same representation, else the next one.
  package static func begin(
    _ layout: CacheLayout, _ key: MediaKey, above known: UInt32, _ representation: Representation,
    note: [UInt8] = []
  ) throws -> EpisodeWriter {
    let former = layout.former(key)
    // A size that was exact stays known, where the server does not tell it.
    let representation = former.map { representation.completed(by: $0.representation) } ?? representation
    if let former, former.number >= known, former.representation.isCertainly(representation),
      !layout.hasData(key, former.number)
    {
      do {
        return try EpisodeWriter(creating: layout, key, former.number, representation, note: note)
      } catch let error as PosixError where error.errno == .EEXIST {
        // Somebody's file: the next number will do.
      }
    }
    var number = max(known, former?.number ?? 0)
    // Its journal tells the number from then on.
    defer { if former != nil { layout.forgetFormer(key, below: number) } }
    while true {
      guard number < .max else { throw PosixError(.EFBIG, "count the generations of", key.text) }
      number += 1
      do {
        return try EpisodeWriter(creating: layout, key, number, representation, note: note)
      } catch let error as PosixError where error.errno == .EEXIST {
        // Left behind by a killed daemon, whose readers have seen it.
        layout.remove(key, number)
      }
    }
  }
}
