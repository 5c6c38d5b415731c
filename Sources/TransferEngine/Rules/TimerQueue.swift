/// What is to be looked at when. Of several times for one name only the earliest is kept: who looks then adds the next. A
/// timer that is no longer needed stays; whoever looks then finds nothing to do.
struct TimerQueue<Name: Hashable & Comparable>: Hashable {
  private var times: [Name: Instant] = [:]
  private(set) var next: Instant?

  mutating func add(_ name: Name, at time: Instant) {
    times[name] = min(time, times[name] ?? time)
    next = min(time, next ?? time)
  }

  mutating func takeDue(_ now: Instant) -> [Name] {
    guard let next, next <= now else { return [] }
    let due = times.filter { $0.value <= now }.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
    for name in due { times[name] = nil }
    self.next = times.values.min()
    return due
  }
}
