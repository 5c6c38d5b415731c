internal import EpisodeCache
internal import PodcastModel
internal import PosixKit
internal import TransferEngine

/// The files of one generation, as the engine orders: opened once, in the episode's lane.
final class EpisodeFiles: Sendable {
  private let layout: CacheLayout
  private let state = Monitor<EpisodeWriter?>(nil)

  init(_ layout: CacheLayout) { self.layout = layout }

  private var writer: EpisodeWriter? { state.withLock { $0 } }

  /// Does something with the open files.
  private func answer(_ body: (EpisodeWriter) throws -> DiskAnswer) -> DiskAnswer {
    guard let writer else { return .failed(DiskFailure(.passing, "not open")) }
    do {
      return try body(writer)
    } catch {
      return .failed(DiskFailure(error))
    }
  }

  private func begin(_ answer: DiskAnswer? = nil, _ make: () throws -> EpisodeWriter) -> DiskAnswer {
    do {
      let writer = try make()
      state.withLock { $0 = writer }
      return answer ?? .opened(writer.representation, present: writer.present)
    } catch let error as PosixError where error.errno == .ENOENT {
      // Perhaps somebody deletes the cache just now.
      return .missing
    } catch {
      return .failed(DiskFailure(error))
    }
  }

  func open(_ key: MediaKey, _ generation: UInt32) -> DiskAnswer {
    begin { try EpisodeWriter(continuing: layout, key, generation) }
  }

  func create(_ key: MediaKey, _ generation: UInt32, _ representation: Representation) -> DiskAnswer {
    begin(.created) { try EpisodeWriter(creating: layout, key, generation, representation) }
  }

  func write(_ pieces: [HeldBytes.Piece], _ flow: FlowID, _ range: Range<Int64>) -> DiskAnswer {
    // What is told as written must be all of it.
    guard let writer, pieces.reduce(0, { $0 + Int64($1.range.count) }) == range.length else {
      let present = writer?.present ?? ByteRanges()
      return .notWritten(flow, range, DiskFailure(.passing, "not open"), present: present)
    }
    do throws(PosixError) {
      try writer.write(pieces.map(\.bytes), at: range.lowerBound)
      return .wrote(flow, range)
    } catch {
      return .notWritten(flow, range, DiskFailure(error), present: writer.present)
    }
  }

  func compare(_ pieces: [HeldBytes.Piece], _ flow: FlowID, _ range: Range<Int64>) -> DiskAnswer {
    answer { writer in
      var agreed: Int64 = 0
      for piece in pieces {
        let count = try writer.agreement(of: piece.bytes, at: piece.offset)
        agreed += Int64(count)
        if count < piece.range.count { break }
      }
      return .compared(flow, range, agreed: agreed)
    }
  }

  func describe(_ representation: Representation) -> DiskAnswer {
    answer { writer in
      try writer.set(representation)
      return .described
    }
  }

  /// Beside the others.
  func flush() -> DiskAnswer {
    guard let writer else { return .flushed }
    do throws(PosixError) {
      try writer.synchronize()
      return writer.hasName ? .flushed : .missing
    } catch {
      return .notFlushed(DiskFailure(error), present: writer.present)
    }
  }

  func close(isComplete: Bool) {
    if isComplete { writer?.removeMap() }
    state.withLock { $0 = nil }
  }
}

extension DiskFailure {
  init(_ error: any Error) {
    switch (error as? PosixError)?.errno {
    case .ENOSPC, .EDQUOT: self.init(.full, TransferCore.noSpaceLeft)
    // The maps lie in the runtime directory, which is memory.
    case .ENOMEM: self.init(.runtimeFull, "no space left in \((error as? PosixError)?.subject ?? "memory")")
    case .EROFS: self.init(.readOnly, "the cache's disk is read-only")
    case .EFBIG: self.init(.tooLarge, "\(error)")
    case .EMFILE, .ENFILE, .EINTR, .EAGAIN: self.init(.passing, "\(error)")
    default: self.init(.broken, "\(error)")
    }
  }
}
