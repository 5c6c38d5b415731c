import Configuration
import EpisodeCache
import Glibc
import PodcastModel
import PosixKit
import TestSupport
import TransferClient
import TransferProtocol

/// A user of a test's own, an origin, and clients with the built daemon, which is ended with the value.
final class TransferFixture: Sendable {
  let environment: TestEnvironment
  let places: Places
  let origin: OriginServer

  init() throws {
    environment = try TestEnvironment()
    places = try Places(environment: environment.variables)
    try places.create()
    origin = try OriginServer()
  }

  deinit {
    origin.stop()
    if let pid = daemon {
      kill(pid, SIGTERM)
      _ = eventually(within: 10) { !isRunning(pid) }
      if isRunning(pid) { kill(pid, SIGKILL) }
    }
  }

  var layout: CacheLayout { CacheLayout(cache: places.cache, runtime: places.runtime) }

  /// The daemon's number, as it tells it.
  var daemon: Int32? {
    guard let bytes = try? Directories.read(places.runtime + "/transferd.pid") else { return nil }
    return Int32(String(decoding: bytes.prefix { $0 != 10 }, as: UTF8.self))
  }

  func isRunning(_ pid: Int32) -> Bool {
    guard let bytes = try? Directories.read("/proc/\(pid)/stat") else { return false }
    return !String(decoding: bytes, as: UTF8.self).contains(") Z")
  }

  /// Kills the daemon and sees it dead.
  func killDaemon() -> Bool {
    guard let pid = daemon, kill(pid, SIGKILL) == 0 else { return false }
    return eventually { !self.isRunning(pid) }
  }

  /// The number of an episode's local copy, by the cache's files; 0 where there is none.
  func generation(_ request: TransferRequest) -> UInt32 {
    let names = (try? Directories.names(in: layout.episodes)) ?? []
    return names.compactMap { CacheLayout.parse($0) }.first { $0.key == request.key }?.generation ?? 0
  }

  /// The path of an episode's bytes.
  func data(_ request: TransferRequest) -> String { layout.data(request.key, generation(request)) }

  /// Waits until the daemon has let go of an episode's files: all that has come is on the disk, and the journal says so.
  func filesAreClosed(_ request: TransferRequest) -> Bool {
    let data = layout.whole(request.key, generation(request))
    return eventually {
      guard let pid = daemon, let files = try? Directories.names(in: "/proc/\(pid)/fd") else { return false }
      return !files.contains { file in
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/\(pid)/fd/\(file)", &target, target.count - 1)
        return length > 0
          && String(decoding: target.prefix(length).map(UInt8.init), as: UTF8.self).hasPrefix(data)
      }
    }
  }

  /// Waits until the daemon does next to nothing while it is looked at two hundred times: what keeps one busy makes
  /// hundreds of steps in that time, and a look around every few seconds a few.
  func daemonIsAtRest() -> Bool {
    var before = daemonActivity
    var looks = 0
    return eventually {
      looks += 1
      guard looks % 200 == 0 else { return false }
      let now = daemonActivity
      defer { before = now }
      return now > 0 && abs(now - before) < 40
    }
  }

  /// How often the daemon's threads have been put on a processor or taken off one, and how long they have run: a number
  /// that moves with either.
  private var daemonActivity: Int {
    guard let pid = daemon, let threads = try? Directories.names(in: "/proc/\(pid)/task") else { return 0 }
    func text(_ file: String) -> String {
      String(decoding: (try? Directories.read("/proc/\(pid)/\(file)")) ?? [], as: UTF8.self)
    }
    let times = text("stat").split(separator: " ").dropFirst(13).prefix(2).compactMap { Int($0) }
    let switches = threads.flatMap { text("task/\($0)/status").split(separator: "\n") }
      .filter { $0.contains("ctxt_switches:") }.compactMap { Int($0.filter(\.isNumber)) }
    return (times + switches).reduce(0, +)
  }

  /// - Parameter clock: what a daemon that this client starts goes by; nil for the true time.
  func client(
    isMount: Bool = true, clock: FakeClock? = nil, _ change: (inout Settings) -> Void = { _ in }
  ) throws -> TransferClient {
    var settings = Settings()
    settings.minimumFree = 1 << 20
    change(&settings)
    let daemon = Products.path("podcastfs-transferd")
    return try TransferClient(
      places: places, settings: settings, isMount: isMount, daemon: clock?.wrapper(of: daemon) ?? daemon)
  }

  /// Puts an episode on the origin.
  func serve(
    _ body: TestBody, at path: String = "/a.mp3", _ behaviour: OriginBehaviour = OriginBehaviour(),
    _ change: (inout OriginResource) -> Void = { _ in }
  ) -> TransferRequest {
    var resource = OriginResource(body)
    resource.behaviour = behaviour
    change(&resource)
    return Self.request(origin.serve(path, resource))
  }

  static func request(_ url: String) -> TransferRequest {
    TransferRequest(
      key: MediaKey(address: WebAddress(url)), url: url, title: "Title", show: "Show",
      fileName: "2024-01-03 - Title.mp3", allowsPrivateHosts: true)
  }
}

extension TransferClient {
  /// Opens, and waits for the answer.
  func opened(
    _ request: TransferRequest, _ intent: OpenIntent = .download, within seconds: Double = patience
  ) throws -> any OpenEpisode {
    let result = Monitor<Result<any OpenEpisode, TransferFailure>?>(nil)
    _ = open(request, intent: intent) { answer in result.withLockNotifying { $0 = answer } }
    guard let answer = result.wait(until: .after(seconds), for: { $0 }) else {
      throw TransferFailure(.ETIMEDOUT, "open did not end")
    }
    return try answer.get()
  }

  /// Why an open fails; nil where it does not.
  func openFailure(_ request: TransferRequest, within seconds: Double = patience) -> TransferFailure? {
    do {
      _ = try opened(request, within: seconds)
      return nil
    } catch {
      return error as? TransferFailure
    }
  }

  /// Whether an order is confirmed.
  func confirmed(_ order: (TransferClient, @escaping OrderCompletion) -> any Cancellable) -> Bool {
    let end = Monitor<TransferFailure??>(nil)
    _ = order(self) { failure in end.withLockNotifying { $0 = .some(failure) } }
    return end.wait(until: .after(patience)) { $0 } == .some(.none)
  }

  func reaches(_ state: TransferState, _ request: TransferRequest, within seconds: Double = patience) -> Bool
  {
    eventually(within: seconds) { status(of: request.key)?.state == state }
  }
}

extension OpenEpisode {
  /// Reads like a program: what is here, else waits.
  func read(at offset: Int64, _ count: Int, within seconds: Double = patience) throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: count)
    let deadline = MonotonicTime.after(seconds)
    while true {
      let done = buffer.withUnsafeMutableBytes { readCached(at: offset, into: $0) }
      if let done { return Array(buffer.prefix(done)) }
      let answer = Monitor<TransferFailure??>(nil)
      _ = whenAvailable(at: offset, count: count) { failure in
        answer.withLockNotifying { $0 = .some(failure) }
      }
      guard let failure = answer.wait(until: deadline, for: { $0 }) else {
        throw TransferFailure(.ETIMEDOUT, "read did not end")
      }
      if let failure { throw failure }
    }
  }

  /// Reads from `offset` to the end.
  func readAll(from offset: Int64 = 0, by step: Int = 128 << 10) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
      let piece = try read(at: offset + Int64(bytes.count), step)
      if piece.isEmpty { return bytes }
      bytes += piece
    }
  }

  /// Why a read fails; nil where it does not.
  func readFailure(at offset: Int64, _ count: Int = 4096, within seconds: Double = patience)
    -> TransferFailure?
  {
    do {
      _ = try read(at: offset, count, within: seconds)
      return nil
    } catch {
      return error as? TransferFailure
    }
  }
}
