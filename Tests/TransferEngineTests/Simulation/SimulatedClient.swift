import PodcastModel
import TransferEngine
import TransferProtocol

/// A mount or a command, as the real one talks to the daemon: it says again what holds when the daemon has died.
struct SimulatedClient {
  struct Handle {
    let episode: Int
    let key: MediaKey
    let intent: OpenIntent
    var generation: UInt32?
    var isOpening = true
    var retries = 0
    let since: Int64
  }
  struct Wait {
    let handle: UInt64
    let range: Range<Int64>
    let since: Int64
  }
  struct Order {
    let order: TransferOrder
    let since: Int64
    /// Whether something else has been wanted of the episode since.
    var isOutdated = false

    var key: MediaKey { order.key }
  }
  let number: Int
  var connection: ClientID?
  var lastNumber: UInt64 = 0
  var handles: [UInt64: Handle] = [:]
  var waits: [UInt64: Wait] = [:]
  var orders: [UInt64: Order] = [:]

  init(number: Int) { self.number = number }

  mutating func next() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }
}

/// What an order must have left behind, once it was confirmed.
enum Promise: Equatable {
  case wanted, paused, dropped, forgotten
  /// Dropped, or to be dropped once nobody has it open.
  case goes
  /// Withdrawn by the client whose readers asked for it: nothing need follow.
  case left
}

extension Simulation {
  func request(_ episode: Int) -> TransferRequest {
    let episode = episodes[episode]
    return TransferRequest(
      key: episode.key, url: episode.url, expectedLength: nil, title: "Title", show: "Show",
      fileName: "a.mp3",
      isEpisode: episode.isEpisode)
  }

  func connect(_ index: Int) {
    guard clients[index].connection == nil else { return }
    lastConnection += 1
    let id = ClientID(lastConnection)
    clients[index].connection = id
    tell(.joined(id, answersAddresses: index == 0))
    if index == 0 { tell(.said(id, .settings(settings))) }
    let client = clients[index]
    // As it was said first.
    for number in (Array(client.orders.keys) + client.handles.keys).sorted() {
      if let order = client.orders[number]?.order {
        tell(.said(id, .order(id: number, order)))
      } else if let handle = client.handles[number] {
        // An open without an answer is wanted anew, whatever was ordered meanwhile.
        if handle.isOpening { forgetPromises(of: handle.key) }
        sayOpen(number, handle, id)
      }
    }
    for (number, wait) in client.waits.sorted(by: { $0.key < $1.key }) {
      tell(
        .said(
          id, .wait(id: number, open: wait.handle, offset: wait.range.lowerBound, count: wait.range.length)))
    }
  }

  private func sayOpen(_ number: UInt64, _ handle: SimulatedClient.Handle, _ id: ClientID) {
    tell(
      .said(
        id,
        .open(
          id: number, request(handle.episode), handle.intent,
          generation: handle.isOpening ? nil : handle.generation)))
  }

  func disconnect(_ index: Int) {
    clients[index].connection = nil
    schedule(.reconnect(index), in: 0.01 + Double(random.below(20)) / 100)
  }

  func say(_ index: Int, _ message: ClientMessage) {
    if let id = clients[index].connection { tell(.said(id, message)) }
  }

  func order(_ index: Int, _ episode: Int, _ promise: Promise) {
    let key = episodes[episode].key
    let order: TransferOrder =
      switch promise {
      case .wanted: .start(request(episode))
      case .paused: .pause(request(episode))
      case .dropped: .drop(key)
      case .goes: .dropAtClose(key)
      case .forgotten: .forget(key)
      case .left: .leave(key)
      }
    note("client \(index): \(promise) \(episode)")
    forgetPromises(of: key)
    if promise == .left { count("orders to leave") }
    if promise == .forgotten { kept.remove(key) }
    say(index, order)
  }

  func say(_ index: Int, _ order: TransferOrder) {
    let number = clients[index].next()
    clients[index].orders[number] = SimulatedClient.Order(order: order, since: time)
    say(index, .order(id: number, order))
  }

  /// Something else is wanted of an episode from now on.
  func forgetPromises(of key: MediaKey) {
    promises[key] = nil
    for index in clients.indices {
      for (number, order) in clients[index].orders where order.key == key {
        clients[index].orders[number]?.isOutdated = true
      }
    }
  }

  func keep(_ index: Int, _ episode: Int, _ isKept: Bool) {
    let key = episodes[episode].key
    kept.remove(key)
    if [.forgotten, .goes].contains(promises[key]) { promises[key] = nil }
    note("client \(index): keep \(episode) \(isKept)")
    say(index, .setKept(request(episode), isKept))
  }

  func open(_ index: Int, _ episode: Int, _ intent: OpenIntent) {
    let number = clients[index].next()
    let handle = SimulatedClient.Handle(
      episode: episode, key: episodes[episode].key, intent: intent, since: time)
    note("client \(index): open \(episode) \(intent)")
    forgetPromises(of: handle.key)
    clients[index].handles[number] = handle
    if let id = clients[index].connection { sayOpen(number, handle, id) }
  }

  func close(_ index: Int, _ number: UInt64) {
    guard clients[index].handles.removeValue(forKey: number) != nil else { return }
    clients[index].waits = clients[index].waits.filter { $0.value.handle != number }
    say(index, .close(id: number))
  }

  /// One of a client's handles reads somewhere.
  func clientReads(_ index: Int) {
    let open = clients[index].handles.filter { !$0.value.isOpening || $0.value.intent != .download }
    guard let number = open.keys.sorted().randomElement(using: &random), let handle = open[number] else {
      return
    }
    let size = episodes[handle.episode].version.size
    let offset = random.chance(1, 2) ? 0 : Int64(random.below(Int(size)))
    // Players wait for the first byte of what they read.
    let most = random.chance(1, 4) ? 1 : Int64(1 + random.below(200_000))
    let wait = SimulatedClient.Wait(
      handle: number, range: offset..<min(offset + most, max(size, offset + 1)), since: time)
    let id = clients[index].next()
    clients[index].waits[id] = wait
    forgetPromises(of: handle.key)
    say(index, .wait(id: id, open: number, offset: offset, count: wait.range.length))
  }

  /// What has waited for as long as a client does.
  func giveUp() {
    for index in clients.indices {
      let waits = clients[index].waits.sorted { $0.key < $1.key }
      for (number, wait) in waits where wait.since < time - 60_000_000_000 {
        checkLiveness(of: wait, clients[index].handles[wait.handle])
        clients[index].waits[number] = nil
        say(index, .endWait(id: number, open: wait.handle))
        count("reads that timed out")
      }
      for (number, handle) in clients[index].handles.sorted(by: { $0.key < $1.key })
      where handle.isOpening && handle.intent == .download && handle.since < time - 60_000_000_000 {
        close(index, number)
        count("opens that timed out")
      }
      for (_, order) in clients[index].orders
      where order.since < time - 30_000_000_000 && !disk.refusesRows && clients[index].connection != nil {
        fail("nobody has confirmed \(order.order) in 30 s")
      }
    }
  }

  func hear(_ message: DaemonMessage, _ id: ClientID) {
    guard let index = clients.firstIndex(where: { $0.connection == id }) else { return }
    switch message {
    case .answer(let number, let failure, let generation):
      answered(index, number, failure, generation, id)
    case .needAddress(let key, let url):
      let isFound = random.chance(1, 2)
      if isFound {
        count("fresh addresses")
        for index in episodes.indices where episodes[index].key == key { episodes[index].forbiddenUntil = 0 }
      }
      tell(.said(id, .freshAddress(key, isFound ? url + "?fresh" : nil)))
    case .welcome, .changed, .snapshotEnd: break
    }
  }

  private func answered(
    _ index: Int, _ number: UInt64, _ failure: TransferFailure?, _ generation: UInt32, _ id: ClientID
  ) {
    if let order = clients[index].orders.removeValue(forKey: number) {
      if failure == nil { return confirmed(order) }
      // Its damaged file may have gone all the same, and the store says that it is here.
      if order.order.verb == .replace { forgetPromises(of: order.key) }
      return count("orders refused")
    }
    if let wait = clients[index].waits.removeValue(forKey: number) {
      if failure == nil { checkAvailable(wait, clients[index].handles[wait.handle]) }
      return count(failure == nil ? "reads" : "reads that failed")
    }
    guard let handle = clients[index].handles[number] else { return }
    if failure != nil {
      close(index, number)
      return count("opens that failed")
    }
    if generation > 0, disk.file(handle.key, generation) == nil, handle.retries < 3 {
      // Deleted before it could be opened.
      count("opens of what was deleted")
      clients[index].handles[number]?.retries += 1
      return sayOpen(number, handle, id)
    }
    if let old = handle.generation, generation != old, generation != 0 {
      fail("a handle changed its generation from \(old) to \(generation)")
    }
    clients[index].handles[number]?.isOpening = false
    if generation > 0 { clients[index].handles[number]?.generation = generation }
    count("opens")
  }

  private func confirmed(_ order: SimulatedClient.Order) {
    count("orders")
    // Others that are under way may change it again.
    let isAlone = !clients.contains { client in client.orders.values.contains { $0.key == order.key } }
    let hasReaders = clients.contains { client in client.handles.values.contains { $0.key == order.key } }
    guard isAlone && !order.isOutdated else { return }
    switch order.order.verb {
    case .start:
      // Who only fetches what is read has what failed tried again, not all of it.
      let isFetched = clients.contains { client in
        client.handles.values.contains { $0.key == order.key && $0.intent == .fetchOnly }
      }
      if !isFetched { promises[order.key] = .wanted }
    case .pause:
      if !hasReaders, engine.status(of: order.key)?.state == .paused { promises[order.key] = .paused }
    case .drop: if !hasReaders { promises[order.key] = .dropped }
    case .dropAtClose: promises[order.key] = .goes
    case .forget: if !hasReaders { promises[order.key] = .forgotten }
    case .keep: kept.insert(order.key)
    case .unkeep, .leave, .replace: break
    }
  }

  /// An honest host and a sound disk serve each read in its time.
  private func checkLiveness(of wait: SimulatedClient.Wait, _ handle: SimulatedClient.Handle?) {
    guard let handle, handle.intent != .cachedOnly, isDiskSound, settings.limitRate == nil else { return }
    let episode = episodes[handle.episode]
    // A response that its host began while it crawled goes on so.
    if responses.values.contains(where: { $0.episode == handle.episode && $0.rate < 100 }) { return }
    let calm = max(troubled, episode.troubled) + 60_000_000_000
    let state = engine.status(of: handle.key)?.state
    guard episode.isFair, episode.mood == .honest || episode.mood == .moves, wait.since > calm,
      state != .paused && state != .failed && wait.since > episode.forbiddenUntil
    else { return }
    fail(
      "a read of an honest host's episode has waited for 60 s: \(wait), \(String(describing: engine.status(of: handle.key)))"
    )
  }

  private func checkAvailable(_ wait: SimulatedClient.Wait, _ handle: SimulatedClient.Handle?) {
    guard let handle, let generation = handle.generation else { return }
    let file =
      disk.file(handle.key, generation)
      ?? disk.open.first { $0.value == .init(key: handle.key, generation: generation) }
      .flatMap { disk.opened($0.key) }
    guard let file else { return }
    let end = min(wait.range.upperBound, file.representation.total ?? .max)
    if wait.range.lowerBound < end, !file.written.contains(wait.range.lowerBound..<end) {
      fail("tells \(wait.range) as there, of \(file.written)")
    }
    if file.lost.ranges.contains(where: { $0.overlaps(wait.range) }) {
      fail("gives what the disk has lost: \(wait.range) of \(file.lost)")
    }
  }

  /// What was promised is in the store, which is all that the next daemon knows.
  func checkStore() {
    for (key, promise) in promises {
      let row = disk.rows[key]
      switch promise {
      case .wanted:
        if row == nil || row?.state == .remote {
          fail("an order to download was lost: \(String(describing: row))")
        }
      case .paused:
        if let row, row.state != .paused && row.state != .cached {
          fail("an order to pause was lost: \(row)")
        }
      case .dropped, .goes:
        // Where the store could not be written, that its files are gone says it of what was here as a whole.
        let isGone = !disk.files.keys.contains { $0.key == key }
        // A daemon that hears of the order before it hears of a reader drops at once. Then the reader may fail.
        let isRead = clients.contains {
          $0.handles.values.contains { $0.key == key && $0.intent == .fetchOnly }
        }
        let isSpent = isGone && (row?.state == .cached || row?.state == .failed && promise == .goes && isRead)
        if let row, row.state != .remote, !isSpent, !(promise == .goes && row.dropsAtClose) {
          fail("an order to drop was lost: \(row)")
        }
      case .left: break
      case .forgotten:
        if let row, !row.request.url.isEmpty { fail("what was forgotten is remembered: \(row)") }
      }
    }
    for key in kept where disk.rows[key]?.isKept != true { fail("what is kept is not any more") }
  }
}
