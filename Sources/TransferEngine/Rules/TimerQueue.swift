/// What is to be looked at when: the earliest time of each name. Whoever looks adds the next, or finds nothing to do.
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
