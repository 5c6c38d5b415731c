internal import PodcastModel

/// Which requests bring what is missing the cheapest way: a seek costs a round trip, small gaps are read through.
struct RequestPlanner {
  /// Reading on through this much costs less than a new request, where it takes no longer than `patience` seconds.
  static let nearby: Int64 = 1 << 20
  static let patience = 0.5
  /// A gap that who reads on may have left, in bytes.
  private static let smallGap: Int64 = 32 << 10
  /// What a seek beside a running response asks for at first, doubled each time it goes on, and the most.
  private static let window: Int64 = 1 << 20
  private static let longestWindow: Int64 = 32 << 20
  /// What would be left behind a window, and is not worth another request.
  private static let worthAsking: Int64 = 8 << 20
  /// Responses at once for one episode.
  static let most = 4

  /// A response under way: it has given all before `position`, and ends before `end` (.max: with the file).
  struct Running: Hashable {
    var position: Int64
    /// Behind what has come of it: the rest of that is on its way to the disk.
    var arrived: Int64
    var end: Int64
    /// Bytes per second since it began; nil while not known.
    var rate: Int64?
  }

  var have: ByteRanges
  var total: Int64?
  var running: [Running] = []
  /// Whether requests may begin elsewhere than at 0, and beside a running one.
  var canSeek = true
  /// Whether the whole file is wanted, not just what is waited for.
  var wantsWhole = true
  /// Where the latest reader is: the whole is filled from there on first.
  var focus: Int64 = 0

  /// What is missing first of a reader's range, or, where that is complete, of the blocks around it.
  func hole(of wait: Range<Int64>) -> Range<Int64>? {
    let file = 0..<(total ?? .max)
    return have.missing(in: wait.clamped(to: file)).first
      ?? have.missing(in: Limits.blocks(of: wait).clamped(to: file)).first
  }

  /// Those of `waits` that no response under way will soon end.
  private func uncovered(_ waits: [Range<Int64>]) -> [Range<Int64>] {
    waits.filter { wait in hole(of: wait).map { !isCovered($0.lowerBound, of: wait, by: waits) } ?? false }
  }

  /// Whether one of `waits` needs a response more than there may be.
  func isCrowded(by waits: [Range<Int64>]) -> Bool {
    canSeek && running.count >= Self.most && !uncovered(waits).isEmpty
  }

  /// What to ask for, so that `waits` end and, where wanted, the file fills.
  /// - Parameter waits: where there are too many, the first of them come first.
  func requests(for waits: [Range<Int64>]) -> [Range<Int64>] {
    var planner = self
    var result: [Range<Int64>] = []
    let next = uncovered(waits).prefix(max(Self.most - running.count, 0))
    for wait in next.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      guard let hole = hole(of: wait), !planner.isCovered(hole.lowerBound, of: wait, by: waits) else {
        continue
      }
      let request =
        canSeek ? planner.request(at: hole.lowerBound, for: wait) : have.firstMissing(from: 0) ..< .max
      let start = request.lowerBound
      planner.running.append(Running(position: start, arrived: start, end: request.upperBound))
      result.append(request)
    }
    if wantsWhole && planner.running.isEmpty, let next = nextHole() { result.append(next) }
    return result
  }

  /// Whether a response under way will soon bring `offset`, which `wait` waits for.
  private func isCovered(_ offset: Int64, of wait: Range<Int64>, by waits: [Range<Int64>]) -> Bool {
    if !canSeek { return !running.isEmpty }
    return running.contains { flow in
      guard flow.position <= offset, offset < flow.end, offset - flow.position <= Self.nearby else {
        return false
      }
      let isSoon = flow.rate.map {
        offset - flow.arrived <= max(Int64(Double($0) * Self.patience), Limits.block)
      }
      return isSoon ?? true || wait.length > 1 && offset <= sequentialEnd(from: flow.position, waits)
    }
  }

  /// How far readers reach who wait for one piece behind the other from `position` on: they need all of it.
  private func sequentialEnd(from position: Int64, _ waits: [Range<Int64>]) -> Int64 {
    waits.sorted { $0.lowerBound < $1.lowerBound }.reduce(position + Self.smallGap) { end, wait in
      wait.lowerBound <= end ? max(end, wait.upperBound) : end
    }
  }

  private func request(at missing: Int64, for wait: Range<Int64>) -> Range<Int64> {
    // Readers see whole blocks: the one in which it begins is asked for from its start, if that is missing.
    let hole = have.hole(around: missing)
    let start = max(hole.lowerBound, Limits.aligned(missing, Limits.block))
    // Up to what is stored, unless that is only an island to be read through, and no response makes it grow.
    var end = hole.upperBound
    if end < .max, let island = have.run(at: end), island.count <= Intake.island,
      !running.contains(where: { island.lowerBound <= $0.position && $0.position <= island.upperBound })
    {
      end = have.run(from: island.upperBound)?.lowerBound ?? .max
    }
    // Nor into what a response under way brings.
    end = min(end, running.filter { $0.position > start }.map(\.position).min() ?? .max)
    if !wantsWhole {
      end = min(end, Limits.alignedUp(min(wait.upperBound, total ?? .max)))
    } else if !running.isEmpty {
      let before = start > 0 ? have.run(at: start - 1)?.count ?? 0 : 0
      let window = max(Self.window, min(Int64(before) * 2, Self.longestWindow))
      let limit = Limits.alignedUp(max(start + window, wait.upperBound))
      if min(end, total ?? .max) - limit > Self.worthAsking { end = limit }
    }
    return start..<(end >= total ?? .max ? .max : end)
  }

  /// The hole to fill next: from where the reader is to the end, then from the start.
  private func nextHole() -> Range<Int64>? {
    guard let total else { return have.firstMissing(from: 0) ..< .max }
    let behind = canSeek ? have.missing(in: min(focus, total)..<total).first : nil
    guard let hole = behind ?? have.missing(in: 0..<total).first else { return nil }
    return hole.lowerBound..<(hole.upperBound == total ? .max : hole.upperBound)
  }
}
