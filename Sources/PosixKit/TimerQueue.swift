/// What is to happen at which time. Adding and cancelling take a binary search.
package struct TimerQueue<Body> {
  package struct Timer: Hashable, Comparable, Sendable {
    fileprivate let time: MonotonicTime
    fileprivate let number: UInt64

    package static func < (a: Timer, b: Timer) -> Bool { (a.time, a.number) < (b.time, b.number) }
  }

  /// The earliest is the last; of equal times the one that was added first.
  private var entries: [(timer: Timer, body: Body)] = []
  private var lastNumber: UInt64 = 0

  package init() {}

  package var count: Int { entries.count }

  /// The time of the next entry; the distant future where there is none.
  package var earliest: MonotonicTime { entries.last?.timer.time ?? .distantFuture }

  @discardableResult
  package mutating func add(_ body: Body, at time: MonotonicTime) -> Timer {
    lastNumber += 1
    let timer = Timer(time: time, number: lastNumber)
    entries.insert((timer, body), at: place(of: timer))
    return timer
  }

  /// Takes the entry away, where its time has not come yet.
  package mutating func cancel(_ timer: Timer) {
    let place = place(of: timer)
    if place < entries.count, entries[place].timer == timer { entries.remove(at: place) }
  }

  /// Takes the next entry that is due.
  /// - Parameter last: entries that were added after this one are left, so that none runs for ever.
  package mutating func takeDue(_ now: MonotonicTime, addedUpTo last: UInt64 = .max) -> Body? {
    guard let next = entries.last?.timer, next.time <= now, next.number <= last else { return nil }
    return entries.removeLast().body
  }

  /// The number of the latest entry, for `takeDue`.
  package var latest: UInt64 { lastNumber }

  package mutating func removeAll() { entries = [] }

  /// The first place whose timer is not later than this one.
  private func place(of timer: Timer) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if timer < entries[middle].timer { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
