import Configuration
import EpisodeCache
import Glibc
import PodcastModel
import PosixKit
import TestSupport
import TransferClient
import TransferProtocol

/// Random operations on real processes, checked after each step against what the origin has ever served.
///
/// The rule: all bytes of one generation of an episode are of one representation, in place, for ever; no
/// journal claims what the data file does not hold; nothing waits for ever.
final class TransferModel: ReferenceModel {
  private struct Handle {
    let episode: Int
    let open: any OpenEpisode
    var position: Int64 = 0
  }

  private struct GenerationName: Hashable {
    let episode: Int
    let generation: UInt32
  }

  private let user: TransferFixture
  private let clock: FakeClock?
  private var random: SeededGenerator
  private var client: TransferClient
  private let requests: [TransferRequest]
  private var served: ServedEpisodes
  private var handles: [Handle] = []
  /// Which versions a generation may still be of, by what has been seen of it.
  private var candidates: [GenerationName: [ServedVersion]] = [:]

  private(set) var kills = 0
  private(set) var bytesCompared: Int64 = 0
  private(set) var failures: [String] = []
  private(set) var log: [String] = []

  init(seed: UInt64, episodes count: Int = 4) throws {
    user = try TransferFixture()
    clock = FakeClock.isAvailable ? try FakeClock() : nil
    random = SeededGenerator(seed: seed)
    let paths = (0..<count).map { "/\($0).mp3" }
    let bodies = (0..<count).map {
      TestBody(seed: seed &* 1000 &+ UInt64($0), size: 200_000 + Int64($0) * 150_001)
    }
    served = ServedEpisodes(of: user.origin, at: paths, bodies: bodies, seed: seed)
    requests = paths.map { [user] path in TransferFixture.request(user.origin.url(path)) }
    client = try Self.client(of: user, clock, 64 << 20)
  }

  private static func client(
    of user: TransferFixture, _ clock: FakeClock?, _ cacheSize: Int64
  ) throws -> TransferClient {
    try user.client(clock: clock) { settings in
      settings.readTimeout = 2
      settings.stallTimeout = 0.3
      settings.cacheSize = cacheSize
    }
  }

  /// Ends the client, so that it starts no further daemon.
  func stop() { client.stop() }

  /// One step, chosen at random.
  func step() throws {
    let episode = Int(random.next(below: UInt64(requests.count)))
    switch random.next(below: 100) {
    case 0..<14: open(episode)
    case 14..<50: read()
    case 50..<58: close()
    case 58..<64: order("start", episode) { $0.order(.start($1), completion: $2) }
    case 64..<69: order("pause", episode) { $0.order(.pause($1), completion: $2) }
    case 69..<73: order("drop", episode) { $0.order(.drop($1.key), completion: $2) }
    case 73..<75: order("keep", episode) { $0.order(.setKept($1, true), completion: $2) }
    case 75..<77: order("unkeep", episode) { $0.order(.setKept($1, false), completion: $2) }
    case 77..<87: note(served.misbehave(episode))
    case 87..<88: goAway()
    case 88..<89: try setClock()
    case 89..<92: note(served.replace(episode))
    case 92..<95: killDaemon()
    case 95..<98: try restartClient()
    case 98..<99: deleteCache()
    default: checkFiles()
    }
    checkStatuses()
  }

  private func note(_ text: String) { log.append(text) }

  private func fail(_ text: String) { failures.append("step \(log.count): \(text)") }

  private func open(_ episode: Int) {
    let intents: [OpenIntent] = [.download, .download, .download, .fetchOnly, .downloadAtRead, .cachedOnly]
    let intent = intents[Int(random.next(below: UInt64(intents.count)))]
    note("open \(episode) \(intent)")
    if handles.count >= 8 { handles.removeFirst().open.close() }
    do {
      let open = try client.opened(requests[episode], intent, within: 10)
      handles.append(Handle(episode: episode, open: open))
      if intent == .download && open.generation == 0 { fail("an open gave no generation") }
    } catch let error as TransferFailure where error.errno != .ETIMEDOUT {
      note("  \(error)")
    } catch {
      fail("open: \(error)")
    }
  }

  private func read() {
    guard !handles.isEmpty else { return }
    let index = Int(random.next(below: UInt64(handles.count)))
    let handle = handles[index]
    let size = handle.open.size ?? 600_000
    let isSequential = random.next(below: 3) > 0
    let offset = isSequential ? handle.position : Int64(random.next(below: UInt64(size + 1000)))
    let count = Int(random.next(below: 3) == 0 ? random.next(below: 5000) + 1 : 65_536)
    let before = handle.open.generation
    do {
      let bytes = try handle.open.read(at: offset, count, within: 10)
      handles[index].position = offset + Int64(bytes.count)
      let generation = handle.open.generation
      note("read \(handle.episode).\(generation) at \(offset): \(bytes.count)")
      if before != 0 && before != generation { fail("a handle changed its generation") }
      check(bytes, at: offset, handle.episode, generation)
    } catch let error as TransferFailure where error.errno != .ETIMEDOUT {
      note("read \(handle.episode).\(before) at \(offset): \(error)")
      if ![.EIO, .ESTALE, .EINTR].contains(error.errno) { fail("read: \(error)") }
    } catch {
      fail("read \(handle.episode).\(before) at \(offset), \(count): \(error)")
    }
  }

  /// Bytes of a generation must be of one version, the same for ever.
  private func check(_ bytes: [UInt8], at offset: Int64, _ episode: Int, _ generation: UInt32) {
    if bytes.isEmpty { return }
    bytesCompared += Int64(bytes.count)
    let name = GenerationName(episode: episode, generation: generation)
    let possible = served.candidates(candidates[name], episode, agreeingWith: bytes, at: offset)
    if possible.isEmpty {
      fail("wrong bytes in \(episode).\(generation) at \(offset), \(bytes.count)")
    } else {
      candidates[name] = possible
    }
  }

  private func close() {
    guard !handles.isEmpty else { return }
    note("close")
    handles.remove(at: Int(random.next(below: UInt64(handles.count)))).open.close()
  }

  private func order(
    _ what: String, _ episode: Int,
    _ body: (TransferClient, TransferRequest, @escaping OrderCompletion) -> any Cancellable
  ) {
    note("\(what) \(episode)")
    let request = requests[episode]
    if !client.confirmed({ body($0, request, $1) }) { fail("\(what) was not confirmed") }
  }

  /// No host answers, until it is told something else.
  private func goAway() {
    note("the network goes away")
    served.goAway()
  }

  /// The wall clock jumps.
  private func setClock() throws {
    guard let clock else { return }
    let ahead = FakeClock.jumps[Int(random.next(below: UInt64(FakeClock.jumps.count)))]
    note("the clock is \(ahead) s ahead")
    try clock.set(ahead: ahead)
  }

  private func killDaemon() {
    note("kill")
    if user.killDaemon() { kills += 1 }
    checkFiles()
  }

  /// The mount's process is killed: its connection ends without a word, and another mount comes.
  private func restartClient() throws {
    let sizes: [Int64] = [64 << 20, 64 << 20, 900_000]
    let size = sizes[Int(random.next(below: 3))]
    note("restart the client, cache \(size)")
    client.stop()
    handles = []
    kills += 1
    client = try Self.client(of: user, clock, size)
  }

  private func deleteCache() {
    note("delete the cache")
    for name in (try? Directories.names(in: user.layout.episodes)) ?? [] {
      unlink(user.layout.episodes + "/" + name)
    }
  }

  /// No journal and no live map claims what the data file does not hold.
  private func checkFiles() {
    for name in (try? Directories.names(in: user.layout.episodes)) ?? [] where name.hasSuffix(".ranges") {
      guard let (key, generation) = CacheLayout.parse(name),
        let episode = requests.firstIndex(where: { $0.key == key })
      else { continue }
      do {
        let journal = RangeJournal(reading: user.layout.journal(key, generation))
        guard let file = try? FileDescriptor(opening: user.layout.data(key, generation), O_RDONLY) else {
          continue
        }
        for range in journal.durable.ranges {
          var bytes = [UInt8](repeating: 0, count: range.count)
          let count = bytes.withUnsafeMutableBytes { try? file.read(into: $0, at: range.lowerBound) }
          if count != bytes.count {
            // Its file may have been dropped at this very moment.
            if user.layout.hasData(key, generation) { fail("a journal claims \(range) of \(count ?? -1)") }
          } else {
            check(bytes, at: range.lowerBound, episode, generation)
          }
        }
      }
    }
  }

  private func checkStatuses() {
    for request in requests {
      guard let status = client.status(of: request.key) else { continue }
      if let total = status.total, status.received > total { fail("more than all: \(status)") }
      if status.state == .failed && status.error == nil { fail("failed without a reason") }
      if status.state == .cached, status.received != status.total { fail("cached in part: \(status)") }
    }
  }

  /// The origin behaves from now on: everything can be read to its end.
  func finish() throws {
    note("finish")
    for handle in handles { handle.open.close() }
    handles = []
    client.stop()
    client = try Self.client(of: user, clock, 64 << 20)
    for (index, request) in requests.enumerated() {
      served.behave(index)
      order("start", index) { $0.order(.start($1), completion: $2) }
      if !client.reaches(.cached, request) {
        let status = client.status(of: request.key)
        fail("episode \(index) never came: \(status.map { "\($0)" } ?? "nothing")")
        continue
      }
      let open = try client.opened(request)
      check(try open.readAll(), at: 0, index, open.generation)
    }
    checkFiles()
  }
}

extension SeededGenerator {
  fileprivate mutating func next(below bound: UInt64) -> UInt64 { next(upperBound: bound) }
}
