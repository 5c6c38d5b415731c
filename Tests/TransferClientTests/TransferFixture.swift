import Configuration
import Glibc
import HTTPServerKit
import PodcastModel
import PosixKit
import TransferClient
import TransferProtocol

/// A user of their own: places in a temporary directory, and the built daemon.
final class TransferFixture: Sendable {
  let root: String
  let places: Places

  init() throws {
    var template = Array("/tmp/podcastfs-transfer-XXXXXX".utf8CString)
    guard let path = mkdtemp(&template) else { throw PosixError.last("create a directory") }
    root = String(cString: path)
    places = try Places(environment: [
      "HOME": root, "XDG_RUNTIME_DIR": root + "/run", "XDG_STATE_HOME": root + "/state",
      "XDG_CACHE_HOME": root + "/cache",
    ])
    try places.create()
  }

  /// Ends the daemon and removes everything.
  func end() {
    if let pid = daemon {
      kill(pid, SIGTERM)
      _ = eventually { kill(pid, 0) != 0 || self.isZombie(pid) }
    }
    removeTree(root)
  }

  /// The running daemon's number.
  var daemon: Int32? {
    guard let bytes = try? Directories.read(places.runtime + "/transferd.pid") else { return nil }
    return Int32(String(decoding: bytes.prefix { $0 != 10 }, as: UTF8.self))
  }

  func isZombie(_ pid: Int32) -> Bool {
    guard let bytes = try? Directories.read("/proc/\(pid)/stat") else { return true }
    return String(decoding: bytes, as: UTF8.self).contains(") Z")
  }

  func client(_ change: (inout Settings) -> Void = { _ in }, isMount: Bool = true) throws -> TransferClient {
    var settings = Settings()
    settings.minimumFree = 0
    change(&settings)
    return try TransferClient(
      places: places, settings: settings, isMount: isMount, daemon: Self.daemonProgram)
  }

  /// Beside the test bundle.
  static let daemonProgram: String = {
    let bundle =
      CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
    return bundle[..<(bundle.lastIndex(of: "/") ?? bundle.startIndex)] + "/podcastfs-transferd"
  }()

  static func request(_ url: String, type: String? = "audio/mpeg") -> TransferRequest {
    TransferRequest(
      key: MediaKey(address: url), url: url, mediaType: type, title: "Title", show: "Show",
      fileName: "2024-01-03 - Title.mp3", allowsPrivateHosts: true)
  }
}

/// Whether `condition` holds before `seconds` have passed.
func eventually(_ seconds: Double = 20, _ condition: () -> Bool) -> Bool {
  let deadline = MonotonicTime.after(seconds)
  while !condition() {
    if MonotonicTime.now > deadline { return false }
    usleep(2000)
  }
  return true
}

func removeTree(_ path: String) {
  for name in (try? Directories.names(in: path)) ?? [] {
    let child = path + "/" + name
    if unlink(child) != 0 { removeTree(child) }
  }
  rmdir(path)
}

/// Bytes that tell their place: no two windows of eight are the same.
func pattern(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
  var bytes = [UInt8](repeating: 0, count: count)
  var state = seed &* 0x9e37_79b9_7f4a_7c15 | 1
  for index in stride(from: 0, to: count, by: 8) {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    for offset in 0..<min(8, count - index) {
      bytes[index + offset] = UInt8(truncatingIfNeeded: state >> UInt64(offset * 8))
    }
  }
  // No magic number of a web page, and none of a text.
  if count > 4 { bytes.replaceSubrange(0..<3, with: Array("ID3".utf8)) }
  return bytes
}

extension TransferClient {
  /// Opens, waiting for the answer.
  func opened(
    _ request: TransferRequest, _ intent: OpenIntent = .download, within seconds: Double = 20
  ) throws -> any OpenEpisode {
    let result = Monitor<Result<any OpenEpisode, TransferFailure>?>(nil)
    _ = open(request, intent: intent) { answer in result.withLockNotifying { $0 = answer } }
    guard let answer = result.wait(until: .after(seconds), for: { $0 }) else {
      throw TransferFailure(.ETIMEDOUT, "open did not end")
    }
    return try answer.get()
  }

  func ordered(_ order: (@escaping @Sendable () -> Void) -> Void) -> Bool {
    let done = Monitor(false)
    order { done.withLockNotifying { $0 = true } }
    return done.wait(until: .after(20)) { $0 ? true : nil } ?? false
  }

  func waits(for state: TransferState, of key: MediaKey, within seconds: Double = 20) -> Bool {
    eventually(seconds) { status(of: key)?.state == state }
  }
}

extension OpenEpisode {
  /// Reads like a program: what is here, else waits.
  func read(at offset: Int64, _ count: Int, within seconds: Double = 20) throws -> [UInt8] {
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
}
