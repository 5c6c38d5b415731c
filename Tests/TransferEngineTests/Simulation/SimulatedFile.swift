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
  /// What is written; what has been flushed; what the journal says.
  private(set) var written = ByteRanges()
  var durable = ByteRanges()
  /// Blocks that it takes of the disk, and bytes of its journal.
  private(set) var blocks = ByteRanges()
  var journalBytes: Int64 = 200
  /// As described last, and as the journal has it.
  var representation: Representation
  var journal: Representation
  /// Whether there is a live map, which says what is written.
  var hasMap = true
  var isLinked = true
  /// Seconds since 1970.
  var changed: Int64

  init(_ representation: Representation, changed: Int64) {
    self.representation = representation
    journal = representation
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

  /// The machine dies: of what was not flushed some is lost, and nobody knows which.
  mutating func losePower(_ random: inout SplitMix) {
    hasMap = false
    representation = journal
    var left: [Segment] = []
    var survived = ByteRanges()
    for segment in segments {
      for run in durable.ranges where run.overlaps(segment.range) {
        left.append(Segment(range: run.clamped(to: segment.range), version: segment.version))
        survived.insert(run.clamped(to: segment.range))
      }
    }
    segments = left.sorted { $0.range.lowerBound < $1.range.lowerBound }
    written = survived
    blocks = ByteRanges(survived.ranges.map(Self.blocks))
  }

  /// Bytes that were written and are known no more: a flush has failed.
  mutating func forget(except ranges: ByteRanges) {
    let before = segments
    segments = []
    written = ByteRanges()
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
