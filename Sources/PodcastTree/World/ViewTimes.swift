internal import Catalog

/// When what the views list last changed. No row of the catalogue says so, and the clock of a mount would say
/// something else in each mount and after each remount: so the catalogue keeps, for each view, the time at which it
/// was first seen to list what it lists, as a number made of that (`World.mark`).
struct ViewTimes: Sendable {
  private struct Entry {
    var mark: Int64
    var time: FileTime
    /// See `ViewTime.isForced`. Its names may be others though its mark is the same: a sidecar has come or gone.
    var isForced = false
    /// The mark that the catalogue has.
    var settled: Int64?
  }

  private var entries: [NodeID: Entry] = [:]
  /// Those that the catalogue does not have yet.
  private var unsettled: Set<NodeID> = []

  subscript(node: NodeID) -> FileTime? { entries[node]?.time }
  var isSettled: Bool { unsettled.isEmpty }

  /// Takes in what the catalogue has; what has changed here meanwhile stays.
  /// - Returns: whether its time is another.
  mutating func adopt(_ stored: ViewTime, of node: NodeID) -> Bool {
    if unsettled.contains(node) { return false }
    let entry = Entry(
      mark: stored.mark, time: FileTime(sinceEpoch: stored.changed), settled: stored.mark)
    defer { entries[node] = entry }
    return entries[node]?.time != entry.time
  }

  /// A view lists something else since `time`, or just after what was known before.
  /// - Parameters:
  ///   - isHeardByAll: whether the time is one that all mounts hear.
  ///   - isForced: also where its mark is the same.
  /// - Returns: whether its time is another.
  mutating func change(
    _ node: NodeID, to mark: Int64, at time: FileTime, isHeardByAll: Bool = false, isForced: Bool
  ) -> Bool {
    let old = entries[node]
    if let old, old.mark == mark, !isForced { return false }
    var time = time
    // Times move forward; but one that a wrong clock has left far ahead does not bind.
    if let old, time <= old.time, old.time.seconds < time.seconds + 86_400 {
      time = FileTime(sinceEpoch: old.time.sinceEpoch &+ 1)
    }
    // It has been something else meanwhile: the catalogue, which has not heard of that, would keep its time.
    let isBack = unsettled.contains(node) && old?.settled == mark
    entries[node] = Entry(
      mark: mark, time: time,
      isForced: isHeardByAll || isForced && old?.mark == mark || isBack || old?.isForced ?? false,
      settled: old?.settled)
    unsettled.insert(node)
    return true
  }

  /// Hands over what the catalogue is to take in.
  mutating func takeUnsettled() -> [NodeID: ViewTime] {
    defer { unsettled = [] }
    return Dictionary(
      unsettled.compactMap { node in
        guard let entry = entries[node] else { return nil }
        entries[node]?.isForced = false
        entries[node]?.settled = entry.mark
        return (node, ViewTime(mark: entry.mark, changed: entry.time.sinceEpoch, isForced: entry.isForced))
      }, uniquingKeysWith: { first, _ in first })
  }

  /// The catalogue could not take them in.
  mutating func giveBack(_ times: [NodeID: ViewTime]) {
    for (node, time) in times {
      unsettled.insert(node)
      if time.isForced { entries[node]?.isForced = true }
      entries[node]?.settled = nil
    }
  }

  /// A view that is no more.
  mutating func forget(_ node: NodeID) {
    entries[node] = nil
    unsettled.remove(node)
  }
}
