import PodcastModel
import TransferEngine
import TransferProtocol

// What must hold after each event, and what may be asked for again.
extension Simulation {
  /// Moods in which a host gives what it is asked for, or fails: nothing that it has given is of no use.
  static let fairMoods: [HostMood] = [
    .honest, .slow, .dead, .stalls, .cuts, .busy, .gone, .forbidden, .login, .moves, .crawls,
  ]

  /// Bytes that a power loss may cost, of an episode: what a flush brings to the disk, and as much that comes meanwhile.
  static let lostByKill: Int64 = 8 << 20
  /// Bytes that a request may bring of what is here: an overlap, an island, what had been sent before it was ended.
  static let again: Int64 = 256 << 10
  /// Bytes that the background may write beyond `cache_size` before it ends: that is looked at with every 4 MiB of each.
  static let beyondBudget: Int64 = 8 << 20

  /// What must hold after each event.
  func broken() -> Failure? {
    for episode in episodes where episode.isFair && episode.again > episode.mayComeAgain {
      return Failure(
        description:
          "episode \(episode.number): \(episode.again) bytes have come again, of \(episode.delivered)")
    }
    // What has been said to the engine, and not heard, it can't keep to.
    if !events.isEmpty { return nil }
    var running: Set<MediaKey> = []
    var byHost: [Int: Set<MediaKey>] = [:]
    for response in responses.values
    where isBackground(episodes[response.episode].key) {
      let key = episodes[response.episode].key
      running.insert(key)
      byHost[episodes[response.episode].host, default: []].insert(key)
    }
    if running.count > Int(settings.downloads) {
      let states = running.sorted().map { engine.status(of: $0) }
      return Failure(description: "\(running.count) background downloads of \(settings.downloads): \(states)")
    }
    for (host, keys) in byHost where keys.count > Int(settings.perHost) {
      return Failure(
        description: "\(keys.count) background downloads from host \(host) of \(settings.perHost)")
    }
    return nil
  }

  /// Whether nobody has it open who may have it come.
  func isBackground(_ key: MediaKey) -> Bool {
    clients.allSatisfy { client in
      client.connection != nil
        && !client.handles.values.contains { $0.key == key && $0.intent != .cachedOnly }
    }
  }

  /// A host is not asked without end: a few times at once, then ever more seldom, or for what it brings.
  func checkManners(of index: Int) {
    episodes[index].asked += 1
    let most = 30 + (time - stirred) / 3_000_000_000 + episodes[index].brought / 65_536
    if episodes[index].asked > most { fail("episode \(index) was asked for \(episodes[index].asked) times") }
  }

  /// Somebody has done something: that may be a reason to ask.
  func stir() {
    stirred = time
    for index in episodes.indices { (episodes[index].asked, episodes[index].brought) = (0, 0) }
  }

  /// Some of a response's bytes have come.
  func delivered(_ range: Range<Int64>, by response: SimulatedResponse) {
    episodes[response.episode].brought += range.length
    guard response.version == episodes[response.episode].version, response.sender != nil else { return }
    let new = episodes[response.episode].delivered.missing(in: range).reduce(0) { $0 + $1.length }
    episodes[response.episode].again += range.length - new
    episodes[response.episode].delivered.insert(range)
  }

  /// Whether the disk does what it should, and has room.
  var isDiskSound: Bool {
    !disk.refusesWrites && !disk.refusesFlushes && !disk.refusesOpens && !disk.hasQuota && !disk.lies
      && disk.free > settings.minimumFree + (16 << 20)
  }

  /// What of an episode is known no more may come again: all but what its files have, and what is on its way.
  /// - Returns: how many bytes that is.
  @discardableResult
  func forgive(_ key: MediaKey) -> Int64 {
    guard let index = episodes.firstIndex(where: { $0.key == key }) else { return 0 }
    let version = episodes[index].version
    var known = ByteRanges()
    let files = disk.files.filter { $0.key.key == key }.values
    // What was deleted counts while somebody needs it, not until a slow disk has closed it.
    let others = disk.open.filter { $0.value.key == key && storeKeys[$0.key] != nil }
      .compactMap { disk.unlinked[$0.key] }
    for file in Array(files) + others {
      for segment in file.segments where segment.version == version { known.insert(segment.range) }
    }
    for response in responses.values where response.episode == index && response.version == version {
      if response.start < response.at { known.insert(response.start..<response.at) }
    }
    let before = episodes[index].delivered
    for range in before.ranges {
      for hole in known.missing(in: range) { episodes[index].delivered.remove(hole) }
    }
    return before.count - episodes[index].delivered.count
  }

  /// A kill has cost what was in memory, and what had not reached the disk.
  /// - Parameter deleted: episodes that somebody has deleted while they were read.
  /// - Parameter bytesOfLies: what the disk had said, perhaps long before, that it had.
  func checkLoss(besides deleted: Set<MediaKey>, wasSound: Bool, bytesOfLies: [MediaKey: Int64]) {
    for episode in episodes {
      let lost = forgive(episode.key) - (bytesOfLies[episode.key] ?? 0)
      if deleted.contains(episode.key) { continue }
      if episode.isFair && wasSound && lost > Self.lostByKill {
        fail("a kill has cost \(lost) bytes of episode \(episode.number)")
      }
      facts["most bytes lost by a kill"] = max(facts["most bytes lost by a kill"] ?? 0, Int(lost))
    }
  }

  /// The background goes on within the budget; beyond it until that is noticed, and something let go of.
  func checkBudget(_ key: MediaKey, _ count: Int64) {
    let others = Set(episodes.filter { !$0.isEpisode }.map(\.key))
    guard isBackground(key), !others.contains(key) else { return }
    let used = disk.files.reduce(0) { $0 + (others.contains($1.key.key) ? 0 : $1.value.written.count) }
    beyondBudget = used > settings.cacheSize ? beyondBudget + count : 0
    if beyondBudget > Self.beyondBudget {
      fail("the background writes beyond cache_size: \(used) of \(settings.cacheSize)")
    }
  }
}
