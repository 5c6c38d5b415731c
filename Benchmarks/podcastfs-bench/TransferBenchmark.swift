import Configuration
import Glibc
import HTTPServerKit
import PodcastModel
import PosixKit
import TransferClient
import TransferProtocol

/// Transfers beside `curl` on the same origin: bytes sent over bytes needed, time to the first byte, time of a
/// seek, and throughput, with no added round trip and with 40 ms.
enum TransferBenchmark {
  static func run(_ arguments: [String]) throws {
    var size: Int64 = 200 << 20
    if arguments.count == 2, arguments[0] == "--size", let megabytes = Int64(arguments[1]) {
      size = megabytes << 20
    }
    for milliseconds in [0.0, 40.0] {
      print("added round trip: \(Int(milliseconds)) ms")
      try measure(size, roundTrip: milliseconds / 1000)
    }
  }

  private static func measure(_ size: Int64, roundTrip: Double) throws {
    let sent = Monitor<Int64>(0)
    let block = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3 | 1) }
    let rate = Monitor<Int64?>(nil)
    let server = try HTTPServer { request, writer throws(ResponseWriter.Ended) in
      writer.onSent = { count in sent.withLock { $0 += Int64(count) } }
      var content = ServedContent(size: size, mediaType: "audio/mpeg") { range in
        let start = Int(range.lowerBound % Int64(block.count))
        let end = start + range.count
        return end <= block.count ? Array(block[start..<end]) : Array((block + block)[start..<end])
      }
      content.etag = "\"bench\""
      content.rate = rate.withLock { $0 }
      try content.respond(to: request, writer)
    }
    defer { server.stop() }
    let link = roundTrip > 0 ? try SlowLink(to: server.port, roundTrip: roundTrip) : nil
    let address = "http://127.0.0.1:\(link?.port ?? server.port)"

    let curl = try best { try curlSeconds(address + "/curl.mp3") }
    print("  curl                    \(megabytes(size, curl)) MB/s")

    let user = try BenchmarkUser()
    defer { user.end() }
    sent.withLock { $0 = 0 }
    var times: [Double] = []
    var firsts: [Double] = []
    for number in 0..<3 {
      let start = MonotonicTime.now
      let episode = try user.open(address + "/\(number).mp3")
      try user.read(episode, at: 0, 4096)
      firsts.append(MonotonicTime.now.seconds(since: start))
      var offset: Int64 = 0
      while offset < size { offset += Int64(try user.read(episode, at: offset, 1 << 20)) }
      times.append(MonotonicTime.now.seconds(since: start))
      episode.close()
    }
    print("  podcastfs               \(megabytes(size, times.min() ?? 1)) MB/s, read while it comes")
    print("  time to first byte      \(Int((firsts.min() ?? 0) * 1000)) ms, opened and read")
    let ratio = Double(sent.withLock { $0 }) / Double(3 * size)
    print("  bytes sent over needed  \(hundredths(ratio))")

    // A host that gives 4 MB/s to each: what is far ahead comes by a request of its own.
    rate.withLock { $0 = 4 << 20 }
    let episode = try user.open(address + "/seek.mp3")
    try user.read(episode, at: 0, 4096)
    var seeks: [Double] = []
    for step in 1...9 {
      let start = MonotonicTime.now
      try user.read(episode, at: size / 10 * Int64(step), 65_536)
      seeks.append(MonotonicTime.now.seconds(since: start))
    }
    print("  seek, median of nine    \(Int(seeks.sorted()[4] * 1000)) ms for 64 KiB")
    episode.close()
  }

  private static func best(_ body: () throws -> Double) rethrows -> Double {
    var result = Double.infinity
    for _ in 0..<3 { result = min(result, try body()) }
    return result
  }

  private static func curlSeconds(_ address: String) throws -> Double {
    let start = MonotonicTime.now
    var process: pid_t = 0
    let words = ["curl", "-s", "-o", "/dev/null", address]
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
    arguments.append(nil)
    defer { for text in arguments { free(text) } }
    let reason = posix_spawnp(&process, "curl", nil, nil, arguments, nil)
    guard reason == 0 else { throw PosixError(Errno(rawValue: reason), "start", "curl") }
    var status: Int32 = 0
    waitpid(process, &status, 0)
    return MonotonicTime.now.seconds(since: start)
  }

  private static func megabytes(_ size: Int64, _ seconds: Double) -> Int {
    Int(Double(size) / 1e6 / seconds)
  }

  private static func hundredths(_ value: Double) -> String {
    let number = Int((value * 1000).rounded())
    return "\(number / 1000).\(String(String(number % 1000 + 1000).dropFirst()))"
  }
}

/// A home of its own, with a client and its daemon.
private final class BenchmarkUser {
  private let home: String
  private let places: Places
  private let client: TransferClient

  init() throws {
    var template = Array("/tmp/podcastfs-bench-XXXXXX".utf8CString)
    guard let path = mkdtemp(&template) else { throw PosixError.last("create a directory") }
    home = String(cString: path)
    places = try Places(environment: ["HOME": home, "XDG_RUNTIME_DIR": home])
    try places.create()
    var settings = Settings()
    settings.minimumFree = 0
    client = try TransferClient(places: places, settings: settings, isMount: true)
  }

  func open(_ url: String) throws -> any OpenEpisode {
    let request = TransferRequest(
      key: MediaKey(address: WebAddress(url)), url: url, title: "", show: "", fileName: "",
      allowsPrivateHosts: true)
    let answer = Monitor<Result<any OpenEpisode, TransferFailure>?>(nil)
    _ = client.open(request, intent: .download) { result in answer.withLockNotifying { $0 = result } }
    guard let result = answer.wait(until: .after(60), for: { $0 }) else {
      throw TransferFailure(.ETIMEDOUT, "open did not end")
    }
    return try result.get()
  }

  @discardableResult
  func read(_ episode: any OpenEpisode, at offset: Int64, _ count: Int) throws -> Int {
    try withUnsafeTemporaryAllocation(byteCount: count, alignment: 16) { buffer in
      while true {
        if let count = episode.readCached(at: offset, into: buffer) { return count }
        let answer = Monitor<TransferFailure??>(nil)
        _ = episode.whenAvailable(at: offset, count: count) { failure in
          answer.withLockNotifying { $0 = .some(failure) }
        }
        if let failure = answer.wait(until: .after(60), for: { $0 }) ?? nil { throw failure }
      }
    }
  }

  /// Ends the daemon and removes the home.
  func end() {
    client.stop()
    let file = places.runtime + "/transferd.pid"
    if let text = try? String(decoding: Directories.read(file), as: UTF8.self),
      let number = Int32(text.prefix { $0 != "\n" })
    {
      kill(number, SIGTERM)
      for _ in 0..<200 where access(file, F_OK) == 0 { usleep(10_000) }
    }
    Self.remove(home)
  }

  private static func remove(_ path: String) {
    if unlink(path) == 0 { return }
    for name in (try? Directories.names(in: path)) ?? [] { remove("\(path)/\(name)") }
    rmdir(path)
  }
}
