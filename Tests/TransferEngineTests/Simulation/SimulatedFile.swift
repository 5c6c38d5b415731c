import PodcastModel
import TransferEngine

/// A generation's data file, journal and live map on the simulated disk. Contents are not bytes but versions: which
/// of an episode's files each byte is of.
struct SimulatedFile {
  struct Segment {
    var range: Range<Int64>
    var version: SimulatedVersion
  }
  /// What has been written, in order, without overlaps.
  private(set) var segments: [Segment] = []
  /// What is written; and what has reached the disk, whatever that says.
  private(set) var written = ByteRanges()
  private var settled = ByteRanges()
  /// What the journal says, as programs see it.
  struct Journal {
    var representation: Representation
    var durable = ByteRanges()
  }
  private(set) var journal: Journal
  /// What it may say after a power loss: as it was when the disk last took it, and as it was since.
  private var possibleJournals: [Journal]
  /// Whether the disk has taken anything of it: its name, too.
  private(set) var isSettled = false
  /// What the disk has lost of what it said it had.
  private(set) var lost = ByteRanges()
  /// Blocks that it takes of the disk, and bytes of its journal.
  private(set) var blocks = ByteRanges()
  var journalBytes: Int64 = 200
  /// As described last.
  private(set) var representation: Representation
  /// Whether there is a live map, which says what is written.
  var hasMap = true
  var isLinked = true
  /// Seconds since 1970.
  var changed: Int64

  init(_ representation: Representation, changed: Int64) {
    self.representation = representation
    journal = Journal(representation: representation)
    possibleJournals = [journal]
    self.changed = changed
  }

  static func blocks(of range: Range<Int64>) -> Range<Int64> {
    range.lowerBound / 4096 * 4096..<(range.upperBound + 4095) / 4096 * 4096
  }

  /// What it takes of the disk.
  var room: Int64 { blocks.count + (journalBytes + 4095) / 4096 * 4096 }

  /// What it would take more with `range`.
  func room(for range: Range<Int64>) -> Int64 {
    blocks.missing(in: Self.blocks(of: range)).reduce(0) { $0 + $1.length }
  }

  mutating func write(_ range: Range<Int64>, _ version: SimulatedVersion) {
    blocks.insert(Self.blocks(of: range))
    var kept: [Segment] = []
    for segment in segments {
      if !segment.range.overlaps(range) {
        kept.append(segment)
        continue
      }
      if segment.range.lowerBound < range.lowerBound {
        kept.append(Segment(range: segment.range.lowerBound..<range.lowerBound, version: segment.version))
      }
      if segment.range.upperBound > range.upperBound {
        kept.append(Segment(range: range.upperBound..<segment.range.upperBound, version: segment.version))
      }
    }
    kept.append(Segment(range: range, version: version))
    kept.sort { $0.range.lowerBound < $1.range.lowerBound }
    // Neighbours of one version become one.
    var joined: [Segment] = []
    for segment in kept {
      if let last = joined.last, last.version == segment.version,
        last.range.upperBound == segment.range.lowerBound
      {
        joined[joined.count - 1].range = last.range.lowerBound..<segment.range.upperBound
      } else {
        joined.append(segment)
      }
    }
    segments = joined
    written.insert(range)
  }

  /// How many bytes of `range` from its start on are as `version` has them.
  func agreement(_ range: Range<Int64>, with version: SimulatedVersion) -> Int64 {
    var at = range.lowerBound
    while at < range.upperBound, let segment = segments.first(where: { $0.range.contains(at) }) {
      let end = min(segment.range.upperBound, range.upperBound)
      let same = version.agreement(with: segment.version, at..<end)
      at += same
      if at < end { break }
    }
    return at - range.lowerBound
  }

  /// Which of `versions` all bytes in `ranges` may be of.
  func candidates(_ versions: [SimulatedVersion]) -> [SimulatedVersion] {
    versions.filter { version in
      segments.allSatisfy { version.agreement(with: $0.version, $0.range) == $0.range.length }
    }
  }

  /// The journal says so from now on; the disk may not have taken that yet.
  private mutating func tell(_ change: (inout Journal) -> Void) {
    change(&journal)
    possibleJournals.append(journal)
  }

  mutating func describe(_ new: Representation) {
    representation = new
    // Written down before any bytes come, and not waited for.
    if written.isEmpty { tell { $0.representation = new } }
  }

  /// Brings what is written to the disk, then tells the journal.
  /// - Parameter isTrue: whether the disk has taken it when it says so.
  mutating func flush(isTrue: Bool) {
    journalBytes += 100
    let (durable, representation) = (written, representation)
    tell { $0 = Journal(representation: representation, durable: durable) }
    if isTrue {
      settled = written
      possibleJournals = [journal]
      isSettled = true
    }
  }

  /// How many bytes the journal tells of by the word of a disk that lied.
  var bytesOfLies: Int64 {
    let safe = possibleJournals.first?.durable ?? ByteRanges()
    return journal.durable.ranges.reduce(0) { sum, run in
      safe.missing(in: run).reduce(sum) { $0 + $1.length }
    }
  }

  /// These bytes are not there: the journal says so, and waits for the disk.
  mutating func discard(except ranges: ByteRanges) {
    forget(except: ranges)
    tell { $0.durable = ranges }
    possibleJournals = [journal]
  }

  /// The machine dies: the disk has what it has taken. Of the rest some, in whatever order: of the journal the beginning,
  /// of what that speaks of some pages and others not.
  mutating func losePower(_ random: inout SplitMix) {
    hasMap = false
    journal = random.pick(possibleJournals)
    representation = journal.representation
    forget(except: journal.durable)
    for run in journal.durable.ranges {
      for hole in settled.missing(in: run) {
        var at = hole.lowerBound
        while at < hole.upperBound {
          let end = min((at / Self.page + 1 + Int64(random.below(64))) * Self.page, hole.upperBound)
          if random.chance(1, 2) { lost.insert(at..<end) }
          at = end
        }
      }
    }
    settled = journal.durable
    for range in lost.ranges { settled.remove(range) }
    possibleJournals = [journal]
    // What has come through it has its name for good.
    isSettled = true
  }

  private static let page: Int64 = 4096

  /// Compares what it has with its checksums, one for each MiB, as whoever opens it after a crash does.
  /// - Returns: how many bytes were others than the journal says.
  mutating func check() -> Int64 {
    if lost.isEmpty { return 0 }
    let found = lost.count
    var sound = journal.durable
    for range in lost.ranges {
      let chunk = Self.checked
      sound.remove(range.lowerBound / chunk * chunk..<(range.upperBound + chunk - 1) / chunk * chunk)
    }
    lost = ByteRanges()
    discard(except: sound)
    return found
  }

  private static let checked: Int64 = 1 << 20

  /// Bytes that were written and are known no more: a flush has failed.
  mutating func forget(except ranges: ByteRanges) {
    let before = segments
    segments = []
    written = ByteRanges()
    // What is not there gives its room back.
    blocks = ByteRanges()
    defer {
      settled = ByteRanges(
        settled.ranges.flatMap { run in written.ranges.filter { $0.overlaps(run) }.map { $0.clamped(to: run) }
        })
    }
    for run in ranges.ranges {
      for segment in before where segment.range.overlaps(run) {
        write(segment.range.clamped(to: run), segment.version)
      }
    }
  }
}

/// One of the files that an episode's address has given.
struct SimulatedVersion: Hashable, Sendable {
  var episode: Int
  var number: Int
  var size: Int64
  /// Bytes that it has in common with all others of the episode.
  var shared: Int64

  func agreement(with other: SimulatedVersion, _ range: Range<Int64>) -> Int64 {
    if self == other { return range.length }
    return max(0, min(range.upperBound, shared, other.shared) - range.lowerBound)
  }

  var entityTag: String { "\"\(episode)-\(number)\"" }
}
