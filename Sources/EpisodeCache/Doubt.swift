internal import Glibc
internal import PodcastModel
internal import PosixKit

/// Which chunks of a file are compared with their checksums before any of their bytes count, where no live map of this
/// run of the machine vouches for it.
enum Doubt: Equatable {
  /// The file was last written to when the journal says, in this run of the machine.
  case none
  /// What was brought to the disk last: the machine may have died since, and a disk may say that it has what it has not.
  case recent
  /// All: it is a copy from another disk, comes from a backup, or somebody has written to it, or cut it. What has no sum
  /// does not count.
  case all

  /// - Parameters:
  ///   - isGoneOnWith: whether what was written to it behind the journal's last word, in a run of the machine before
  ///     this one, may be a crash's: that is not believed anyway, and comes again.
  ///   - run: when this run of the machine began and what time it is, in nanoseconds since 1970.
  init(
    of status: stat, _ journal: RangeJournal, isGoneOnWith: Bool = false,
    run: Range<Int64> = Doubt.thisRun
  ) {
    guard let place = journal.place else {
      self = .none
      return
    }
    let length = Int64(status.st_size)
    let hasLength = journal.durable.end <= length && length <= journal.representation?.total ?? .max
    let later = status.modified - place.modified
    let isOfCrash = isGoneOnWith && status.modified < run.lowerBound
    let isInTime = later == 0 || isOfCrash && (0..<Self.crashGap).contains(later)
    if place.inode != UInt64(status.st_ino) || !hasLength || !isInTime {
      self = .all
    } else {
      // The clock may have been set meanwhile: then it is doubted in vain.
      self = later == 0 && run.contains(status.modified) ? .none : .recent
    }
  }

  /// The same for one chunk: `none` where it is not among those.
  func concerns(_ chunk: Int64, _ recent: Set<Int64>) -> Doubt {
    self == .recent && !recent.contains(chunk) ? .none : self
  }

  /// Nanoseconds that writes go on, at the most, before the journal hears of them.
  private static let crashGap: Int64 = 60_000_000_000

  /// By the wall clock as it goes now.
  private static var thisRun: Range<Int64> {
    var up = timespec()
    clock_gettime(CLOCK_BOOTTIME, &up)
    let now = wallClockNanoseconds()
    return now - Int64(up.tv_sec) * 1_000_000_000 - Int64(up.tv_nsec)..<now + 1
  }
}
