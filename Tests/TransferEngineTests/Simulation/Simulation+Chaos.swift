import PodcastModel
import TransferEngine
import TransferProtocol

/// Something that somebody does to the simulated world.
enum Action: Hashable {
  case order(Int, Int, Promise)
  case keep(Int, Int, Bool)
  case open(Int, Int, OpenIntent)
  case read(Int)
  case close(Int)
  case vanish(Int)
  case mood(Int, HostMood)
  case replace(Int)
  case disk(Int)
  case ballast(Int64)
  case hold(Int)
  case clock(Int64)
  case deleteCache
  case damage(Int, Int)
  case network
  case rest(Bool)
  case sleep
  case settings(Int)
  case kill
  case powerLoss
  /// After so many more effects, also between two of one event.
  case killWithin(effects: Int, losingPower: Bool)
}

extension Simulation {
  /// What is done next, by chance.
  func nextAction(_ random: inout SplitMix) -> (wait: Double, action: Action) {
    let waits = [0.0, 0.001, 0.05, 0.3, 1, 2, 5, 20, 60]
    let wait = random.pick(waits)
    let episode = random.below(episodes.count)
    let client = random.below(clients.count)
    let action: Action =
      switch random.below(100) {
      case 0..<12: .order(client, episode, .wanted)
      case 12..<17: .order(client, episode, .paused)
      case 17..<20: .order(client, episode, random.pick([.left, .dropped, .goes, .goes]))
      case 20..<21: .order(client, episode, .forgotten)
      case 21..<24: .keep(client, episode, random.chance(1, 2))
      case 24..<36:
        .open(client, episode, random.pick([.download, .download, .downloadAtRead, .fetchOnly, .cachedOnly]))
      case 36..<54: .read(client)
      case 54..<61: .close(client)
      case 61..<63: .vanish(client)
      case 63..<78: .mood(episode, random.chance(1, 3) ? .honest : random.pick(moods(of: episode)))
      case 78..<82: .replace(episode)
      case 82..<87: .disk(random.below(13))
      case 87..<88: .hold(episode)
      case 88..<89: .ballast(Int64(random.below(20_000_000)) - 10_000_000)
      case 89..<91: .clock(random.pick([-86_400, -3600, 3600, 86_400, 31_536_000]))
      case 91..<92: random.chance(1, 3) ? .deleteCache : .damage(client, episode)
      case 92..<93: random.pick([.network, .sleep, .rest(true), .rest(false), .rest(false)])
      case 93..<95: .settings(random.below(1000))
      case 95..<97: .kill
      case 97..<98: .powerLoss
      default: .killWithin(effects: random.below(40), losingPower: random.chance(1, 3))
      }
    return (wait, action)
  }

  private func moods(of episode: Int) -> [HostMood] {
    episodes[episode].isFair ? Self.fairMoods : HostMood.allCases
  }

  func act(_ action: Action) throws {
    stir()
    switch action {
    case .order(let client, let episode, let promise): order(client, episode, promise)
    case .keep(let client, let episode, let isKept): keep(client, episode, isKept)
    case .open(let client, let episode, let intent):
      if clients[client].handles.count < 6 { open(client, episode, intent) }
    case .read(let client): clientReads(client)
    case .close(let client):
      if let number = clients[client].handles.keys.sorted().randomElement(using: &random) {
        close(client, number)
      }
    case .vanish(let client):
      if let id = clients[client].connection { tell(.left(id)) }
      // What it ordered last may still be done, after what others have ordered since.
      for key in clients[client].orders.values.map(\.key) {
        forgetPromises(of: key)
        kept.remove(key)
      }
      clients[client].handles = [:]
      clients[client].waits = [:]
      clients[client].orders = [:]
      disconnect(client)
    case .mood(let episode, let mood):
      note("host of \(episode) is \(mood)")
      episodes[episode].mood = mood
      episodes[episode].troubled = time
    case .replace(let episode):
      note("another file for \(episode)")
      episodes[episode].replace(&random)
      episodes[episode].troubled = time
    case .disk(let kind): change(disk: kind)
    case .ballast(let bytes):
      disk.free = max(disk.free + bytes, 0)
      (ballastMoved, troubled) = (time, time)
      note("ballast: \(disk.free) left")
    case .hold(let episode):
      let key = episodes[episode].key
      if disk.heldElsewhere.remove(key) == nil { disk.heldElsewhere.insert(key) }
    case .clock(let seconds):
      wallAhead += seconds
      note("the clock is \(wallAhead) s ahead")
    case .deleteCache: deleteCache()
    case .damage(let client, let episode): damage(client, episode)
    case .network: tell(.networkChanged)
    case .rest(let rests): tell(.background(rests ? .metered : nil))
    case .sleep:
      wallAhead += 60
      asleep += 60
      tell(.timer)
    case .settings(let number): change(settings: number)
    case .kill: kill(losingPower: false)
    case .powerLoss: kill(losingPower: true)
    case .killWithin(let effects, let losingPower): death = (effects, losingPower)
    }
    try settle()
    giveUp()
    if let problem { throw problem }
  }

  private func change(disk kind: Int) {
    troubled = time
    (disk.slowness, disk.refusesWrites, disk.refusesFlushes, disk.refusesOpens, disk.refusesRows) =
      (0, false, false, false, false)
    (disk.hasQuota, disk.lies, disk.refusesRemovals) = (false, false, false)
    switch kind {
    case 0..<2: disk.slowness = 0.1
    case 2: disk.slowness = 1
    case 3: disk.refusesWrites = true
    case 4..<6: disk.refusesFlushes = true
    case 6: disk.refusesOpens = true
    case 7: disk.refusesRows = true
    case 8: disk.hasQuota = true
    case 9: disk.lies = true
    case 10: disk.refusesRemovals = true
    default: break
    }
    note("disk: \(kind)")
    count("faults of the disk")
  }

  private func change(settings number: Int) {
    settings.downloads = Int64(1 + number % 4)
    settings.perHost = Int64(1 + number / 4 % 3)
    settings.limitRate = number % 7 == 0 ? 100_000 : nil
    say(0, .settings(settings))
  }

  /// Somebody has found bytes of a whole file that are not what was written.
  private func damage(_ client: Int, _ episode: Int) {
    guard let status = engine.status(of: episodes[episode].key), status.state == .cached else { return }
    note("bytes of \(episode) are damaged")
    count("damaged files")
    say(client, .replace(status.key, generation: status.generation))
  }

  private func deleteCache() {
    troubled = time
    note("the cache is deleted")
    let keys = Set(disk.files.keys.map(\.key))
    let names = disk.files.keys.sorted { ($0.key, $0.generation) < ($1.key, $1.generation) }
    for name in names { disk.unlink(name.key, name.generation, at: time) }
    for key in keys { forgive(key) }
    kept = kept.subtracting(keys)
    // Also of an order that has been obeyed, and not confirmed.
    for key in keys { forgetPromises(of: key) }
  }

  /// What all episodes need beside what they have, with what stays free, what journals take, and what is kept for a
  /// body whose length is not known yet.
  private var neededRoom: Int64 {
    var need = settings.minimumFree + (3 << 20)
    for episode in episodes {
      let files = disk.files.filter { $0.key.key == episode.key }
      let latest = files.max { $0.key.generation < $1.key.generation }
      let all = SimulatedFile.blocks(of: 0..<episode.version.size).length
      let isCurrent = latest?.value.segments.allSatisfy { $0.version == episode.version } ?? false
      need += isCurrent ? max(all - (latest?.value.blocks.count ?? 0), 0) : all
    }
    return need
  }

  /// Everybody behaves from now on: all that is wanted must come, and all that waits must end.
  func finish() throws {
    note("calm")
    stir()
    isCalm = true
    death = nil
    for flow in responses.keys { responses[flow]?.rate = 1_000_000 }
    change(disk: 11)
    settings.cacheSize = 1 << 32
    settings.limitRate = nil
    // Just what must be enough, or plenty.
    disk.free = random.chance(1, 2) ? neededRoom : 1 << 32
    ballastMoved = time
    say(0, .settings(settings))
    tell(.background(nil))
    try settle()
    for index in clients.indices {
      for number in clients[index].handles.keys.sorted() where random.chance(1, 2) { close(index, number) }
    }
    try pass(1)
    for index in episodes.indices { order(0, index, .wanted) }
    try settle()
    for _ in 0..<200 {
      try pass(30)
      giveUp()
      if let problem { throw problem }
      if episodes.allSatisfy({ engine.status(of: $0.key)?.state == .cached }) { break }
    }
    for episode in episodes {
      guard let status = engine.status(of: episode.key), status.state == .cached else {
        throw Failure(
          description:
            "episode \(episode.number) never came: \(String(describing: engine.status(of: episode.key)))")
      }
      guard let file = disk.file(episode.key, status.generation), let total = status.total else {
        throw Failure(description: "cached, and not there: \(status)")
      }
      if !file.written.contains(0..<total) {
        throw Failure(description: "cached in part: \(file.written) of \(total)")
      }
    }
    for client in clients
    where !client.orders.isEmpty || client.waits.contains(where: { $0.value.since < time - 60_000_000_000 }) {
      throw Failure(description: "waits for ever: \(client)")
    }
  }
}
