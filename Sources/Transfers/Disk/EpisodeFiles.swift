internal import EpisodeCache
internal import PodcastModel
internal import PosixKit
internal import TransferEngine

/// The files of one generation, as the engine orders: opened once, in the episode's lane.
final class EpisodeFiles: Sendable {
  private let layout: CacheLayout
  private let maps: MapsRoom
  private let state = Monitor<EpisodeWriter?>(nil)

  init(_ layout: CacheLayout, _ maps: MapsRoom) {
    self.layout = layout
    self.maps = maps
  }

  private func failure(_ error: any Error) -> DiskFailure { DiskFailure(error) }

  private var writer: EpisodeWriter? { state.withLock { $0 } }

  func open(_ key: MediaKey, _ generation: UInt32) -> DiskAnswer {
    do {
      let writer = try EpisodeWriter(continuing: layout, key, generation)
      use(writer)
      return .opened(writer.representation, present: writer.present)
    } catch let error as PosixError where error.errno == .ENOENT {
      return .missing
    } catch {
      return .failed(failure(error))
    }
  }

  private func use(_ writer: EpisodeWriter) {
    state.withLock { $0 = writer }
    maps.made(isSpare: writer.hasSpareMap)
  }

  func create(_ key: MediaKey, _ generation: UInt32, _ representation: Representation) -> DiskAnswer {
    var left = Self.folderTries
    while true {
      do {
        use(try EpisodeWriter(creating: layout, key, generation, representation))
        return .created
      } catch let error as PosixError where error.errno == .ENOENT && left > 1 {
        // Somebody deletes the cache: its folder was made, and has gone before there was anything in it.
        left -= 1
      } catch {
        return .failed(failure(error))
      }
    }
  }

  /// How often the cache's folder is made anew for a generation's files.
  private static let folderTries = 10

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
      let failure =
        writer.lacksRuntimeRoom
        ? DiskFailure(.runtimeFull, "no space left in \(layout.runtime)") : failure(error)
      writer.giveBack(range)
      return .notWritten(flow, range, failure, present: writer.present)
    }
  }

  func compare(_ pieces: [HeldBytes.Piece], _ flow: FlowID, _ range: Range<Int64>) -> DiskAnswer {
    guard let writer else { return .failed(DiskFailure(.passing, "not open")) }
    var agreed: Int64 = 0
    do throws(PosixError) {
      for piece in pieces {
        let count = try writer.agreement(of: piece.bytes, at: piece.offset)
        agreed += Int64(count)
        if count < piece.range.count { break }
      }
      return .compared(flow, range, agreed: agreed)
    } catch {
      return .failed(failure(error))
    }
  }

  func describe(_ representation: Representation) -> DiskAnswer {
    do throws(PosixError) {
      try writer?.set(representation)
      return .described
    } catch {
      return .failed(failure(error))
    }
  }

  /// Beside the others.
  func flush() -> DiskAnswer {
    guard let writer else { return .flushed }
    do throws(PosixError) {
      try writer.synchronize()
      return .flushed
    } catch {
      return .notFlushed(failure(error), present: writer.present)
    }
  }

  func close(isComplete: Bool) {
    // The journal tells it all from now on.
    if isComplete { writer?.removeMap() }
    state.withLock { $0 = nil }
  }

  func discard(_ ranges: [Range<Int64>]) -> DiskAnswer {
    guard let writer else { return .failed(DiskFailure(.passing, "not open")) }
    do throws(PosixError) {
      try writer.discard(ranges)
      return .discarded(present: writer.present)
    } catch {
      return .failed(failure(error))
    }
  }
}

extension DiskFailure {
  init(_ error: any Error) {
    guard let error = error as? PosixError else {
      self.init(.broken, "\(error)")
      return
    }
    switch error.errno {
    case .ENOSPC, .EDQUOT: self.init(.full, TransferCore.noSpaceLeft)
    case .EROFS: self.init(.readOnly, "the cache's disk is read-only")
    case .EFBIG: self.init(.tooLarge, "\(error)")
    case .EMFILE, .ENFILE, .ENOMEM, .EINTR, .EAGAIN: self.init(.passing, "\(error)")
    default: self.init(.broken, "\(error)")
    }
  }
}
