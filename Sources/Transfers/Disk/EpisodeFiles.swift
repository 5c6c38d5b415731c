package import EpisodeCache
internal import PodcastModel
internal import PosixKit
package import TransferEngine

/// The files of one generation, as the engine orders: opened once. Orders but `flush` come in the episode's lane.
final class EpisodeFiles: Sendable {
  let key: MediaKey
  private let layout: CacheLayout
  private let room: DiskRoom
  private let state = Monitor<EpisodeWriter?>(nil)

  init(_ key: MediaKey, _ layout: CacheLayout, _ room: DiskRoom) {
    (self.key, self.layout, self.room) = (key, layout, room)
  }

  private var writer: EpisodeWriter? { state.withLock { $0 } }

  /// - Returns: nil where nothing is to be answered.
  func perform(_ order: StoreOrder, _ pieces: [HeldBytes.Piece]) -> DiskAnswer? {
    do {
      switch order {
      case .open(let key, let generation):
        let writer = try EpisodeWriter(continuing: layout, key, generation)
        state.withLock { $0 = writer }
        return .opened(writer.representation, present: writer.present)
      case .create(let key, let generation, let representation, let leaving):
        // With less than its beginning it would be of no use.
        try room.take(min(representation.total ?? .max, 256 << 10), leaving: leaving) {
          let writer = try EpisodeWriter(creating: layout, key, generation, representation)
          state.withLock { $0 = writer }
        }
        return .created
      case .write(let flow, let range, let leaving):
        try write(pieces, range, leaving)
        return .wrote(flow, range)
      case .compare(let flow, let range): return .compared(flow, range, agreed: try agreement(of: pieces))
      case .describe(let representation):
        try opened().set(representation)
        return .described
      case .close(let isComplete):
        if isComplete { writer?.removeMap() }
        state.withLock { $0 = nil }
        return nil
      }
    } catch let error as PosixError where error.errno == .ENOENT && writer == nil {
      // Perhaps somebody deletes the cache just now.
      return .missing
    } catch {
      return .failed(Fault(disk: error), present: writer?.present ?? ByteRanges())
    }
  }

  private func opened() throws -> EpisodeWriter {
    guard let writer else { throw PosixError(.EAGAIN, "write", "\(key)") }
    return writer
  }

  private func write(_ pieces: [HeldBytes.Piece], _ range: Range<Int64>, _ leaving: Int64) throws {
    let writer = try opened()
    // What is reported as written must be all of it.
    guard pieces.reduce(0, { $0 + Int64($1.range.count) }) == range.length else {
      throw PosixError(.EAGAIN, "write", "\(key)")
    }
    // Where the disk has no room for all of them, it writes the pieces one by one, as many as fit.
    let isAmple = room.has(range.length, leaving: leaving)
    for some in isAmple ? [pieces] : pieces.map({ [$0] }) where !some.isEmpty {
      let count = some.reduce(0) { $0 + Int64($1.range.count) }
      try room.take(count, leaving: leaving) { try writer.write(some.map(\.bytes), at: some[0].offset) }
    }
  }

  private func agreement(of pieces: [HeldBytes.Piece]) throws -> Int64 {
    var agreed: Int64 = 0
    for piece in pieces {
      let count = try opened().agreement(of: piece.bytes, at: piece.offset)
      agreed += Int64(count)
      if count < piece.range.count { break }
    }
    return agreed
  }

  func flush() -> DiskAnswer {
    guard let writer else { return .flushed }
    do throws(PosixError) {
      try writer.synchronize()
      return writer.isInPlace ? .flushed : .missing
    } catch {
      return .notFlushed(Fault(disk: error), present: writer.present)
    }
  }
}

// What the engine asks of the cache's folder.
extension CacheLayout {
  /// Does what `Effect.evict` says.
  /// - Returns: those that have gone.
  package func evict(_ candidates: [GenerationName], count: Int64, more: Int64) -> [GenerationName] {
    // What somebody has deleted goes first.
    let known = candidates.map { ($0, read: lastRead($0.key, $0.generation) ?? 0) }
    var evicted: [GenerationName] = []
    var left = count
    for (candidate, _) in known.sorted(by: { $0.read < $1.read }) {
      if left <= 0 && candidate.size > left + more { break }
      guard evict(candidate.key, candidate.generation) else { continue }
      evicted.append(GenerationName(key: candidate.key, generation: candidate.generation))
      left -= candidate.size
    }
    return evicted
  }

  /// Data files that the store, which knows `known`, does not know; and of `known` some whose files have gone.
  func foundFiles(besides known: [GenerationName]) -> Event {
    let swept = sweep(
      besides: Dictionary(known.map { ($0.key, $0.generation) }, uniquingKeysWith: { _, last in last }))
    let missing = known.lazy.filter { !swept.expected.contains($0.key) }.prefix(Self.mostMissing)
      .map { GenerationName(key: $0.key, generation: $0.generation) }
    return .found(swept.found, missing: Array(missing))
  }

  /// What is forgotten at once of a cache that was deleted. The others are noticed when they are used.
  private static let mostMissing = 1000
}

/// Keeps bytes of the cache's disk free, whatever is written at once.
final class DiskRoom: Sendable {
  private let directory: String
  private let taken = Monitor<Int64>(0)

  init(of directory: String) { self.directory = directory }

  func has(_ count: Int64, leaving: Int64) -> Bool {
    DiskSpace.available(at: directory).map { $0 - taken.withLock { $0 } - count >= leaving } ?? true
  }

  /// - Throws: ENOSPC where fewer than `leaving` bytes would be left.
  func take(_ count: Int64, leaving: Int64, _ write: () throws -> Void) throws {
    taken.withLock { $0 += count }
    defer { taken.withLock { $0 -= count } }
    guard has(0, leaving: leaving) else { throw PosixError(.ENOSPC, "write", directory) }
    try write()
  }
}

extension Fault {
  init(disk error: any Error) {
    let failure = error as? PosixError
    switch failure?.errno {
    case .ENOSPC, .EDQUOT: self.init(.noRoom, TransferCore.noSpaceLeft)
    // The maps lie in the runtime directory, which is memory.
    case .ENOMEM: self.init(.runtimeFull, "no space left in \(failure?.subject ?? "memory")")
    case .EROFS:
      self.init(.passing, "the cache's disk is read-only")
      readerErrno = .EROFS
    case .EFBIG: self.init(.lasting, "the file is larger than the disk or a limit (ulimit -f) allows")
    case .EMFILE, .ENFILE, .EINTR, .EAGAIN: self.init(.passing, "\(error)")
    default: self.init(.lasting, "\(error)")
    }
  }
}
