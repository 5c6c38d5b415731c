/// What is to be looked at when: a binary heap. Of several times for one name only the earliest is kept: who looks
/// then adds the next. What is no longer due when its time comes is looked at in vain.
struct TimerQueue<Name: Hashable>: Hashable {
  private struct Entry: Hashable {
    var time: Instant
    var name: Name
  }
  private var heap: [Entry] = []
  private var times: [Name: Instant] = [:]

  var next: Instant? { heap.first?.time }

  /// Has `name` looked at, at `time` at the latest.
  mutating func add(_ name: Name, at time: Instant) {
    if let known = times[name], known <= time { return }
    times[name] = time
    heap.append(Entry(time: time, name: name))
    rise(heap.count - 1)
  }

  mutating func popDue(_ now: Instant) -> Name? {
    while let first = heap.first, first.time <= now {
      removeFirst()
      // An entry that an earlier one has replaced counts for nothing.
      if times[first.name] == first.time {
        times[first.name] = nil
        return first.name
      }
    }
    return nil
  }

  private mutating func removeFirst() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var index = 0
    while true {
      let child = 2 * index + 1
      guard child < heap.count else { return }
      let least = child + 1 < heap.count && heap[child + 1].time < heap[child].time ? child + 1 : child
      guard heap[least].time < heap[index].time else { return }
      heap.swapAt(index, least)
      index = least
    }
  }

  private mutating func rise(_ start: Int) {
    var index = start
    while index > 0, heap[index].time < heap[(index - 1) / 2].time {
      heap.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }
}
