import Glibc
import PosixKit
import TestSupport

/// Random operations on a real mount, checked after each step: what any program sees of it.
///
/// The rule: whatever one open file gives is of one representation, in place; nothing waits for ever; attributes
/// never contradict each other; a killed mount or daemon loses nothing that its reader would notice later.
final class MountModel: ReferenceModel {
  private struct Handle {
    let episode: Int
    let file: Int32
    var position: Int64 = 0
    /// What it may still be of, by what it has given; nil before its first byte.
    var candidates: [ServedVersion]?
  }

  private enum End {
    case bytes([UInt8])
    case failure(Errno)
  }

  private let fixture: MountFixture
  private let clock: FakeClock?
  private var random: SeededGenerator
  private var served: ServedEpisodes
  private var handles: [Handle] = []
  private var options = "trigger=open"

  private(set) var kills = 0
  private(set) var bytesCompared: Int64 = 0
  private(set) var failures: [String] = []
  private(set) var log: [String] = []

  /// Whether the two processes are left alone: one life through all steps.
  private let isOneLife: Bool
  private var searches = 0

  init(seed: UInt64, isOneLife: Bool = false) throws {
    self.isOneLife = isOneLife
    clock = FakeClock.isAvailable ? try FakeClock() : nil
    fixture = try MountFixture(size: 400_000, environment: clock?.variables ?? [:])
    random = SeededGenerator(seed: seed)
    served = ServedEpisodes(
      of: fixture.origin, at: ["/1.mp3", "/2.mp3", "/3.mp3"], bodies: fixture.bodies, seed: seed)
    try mount()
    try fixture.makeSearch()
    _ = try fixture.list(fixture.podcastPath)
  }

  deinit { for handle in handles { Glibc.close(handle.file) } }

  private func mount() throws {
    try fixture.mount(options: "min_free=0,read_timeout=2,stall_timeout=0.3,connect_timeout=2,\(options)")
  }

  private func path(_ episode: Int) -> String { fixture.episode(episode + 1) }

  /// One step, chosen at random.
  func step() throws {
    let episode = next(below: 3)
    switch next(below: 100) {
    case 0..<16: open(episode)
    case 16..<52: read()
    case 52..<60: closeOne()
    case 60..<66: set("state", "downloading", episode)
    case 66..<70: set("state", "paused", episode)
    case 70..<74: set("state", "remote", episode)
    case 74..<76: set("keep", "\(next(below: 2))", episode)
    case 76..<86: note(served.misbehave(episode))
    case 86..<87:
      note("the network goes away")
      served.goAway()
    case 87..<88: try setClock()
    case 88..<91: note(served.replace(episode))
    case 91..<97 where isOneLife: change(episode)
    case 91..<93: killDaemon()
    case 93..<95: try killMount()
    case 95..<97: try killDuringRead(episode)
    case 97..<98: deleteCache()
    default: list()
    }
    checkAttributes()
  }

  private func note(_ text: String) { log.append(text) }

  private func fail(_ text: String) { failures.append("step \(log.count): \(text)") }

  private func next(below bound: Int) -> Int { Int(random.next(upperBound: UInt64(bound))) }

  /// The result of what may block; nil where it takes longer than any wait may.
  private func bounded<T: Sendable>(_ what: String, _ body: @escaping @Sendable () -> T) -> T? {
    let result = Monitor<T?>(nil)
    PosixThread.start("model") {
      let value = body()
      result.withLockNotifying { $0 = value }
    }
    let value = result.wait(until: .after(patience)) { $0 }
    if value == nil { fail("\(what) did not end") }
    return value
  }

  // MARK: Readers

  private func open(_ episode: Int) {
    if handles.count >= 6 { close(handles.removeFirst()) }
    let path = path(episode)
    let result = bounded("open") { () -> (Int32, Errno) in
      (Glibc.open(path, O_RDONLY | O_CLOEXEC), Errno.current)
    }
    guard let (file, errno) = result else { return }
    if file >= 0 {
      note("open \(episode)")
      handles.append(Handle(episode: episode, file: file))
    } else {
      note("open \(episode): \(errno)")
      if errno != .EIO { fail("open: \(errno)") }
    }
  }

  private func read() {
    guard !handles.isEmpty else { return }
    let index = next(below: handles.count)
    let handle = handles[index]
    var status = stat()
    fstat(handle.file, &status)
    let isSequential = next(below: 3) > 0
    let offset = isSequential ? handle.position : Int64(next(below: Int(status.st_size) + 1000))
    let count = next(below: 3) == 0 ? next(below: 5000) + 1 : 65_536
    // What other readers have left in the page cache is asked for again now and then.
    if next(below: 4) == 0 { posix_fadvise(handle.file, 0, 0, POSIX_FADV_DONTNEED) }
    let end = bounded("read of \(handle.episode) at \(offset)") {
      Self.read(handle.file, offset, count)
    }
    if let end { take(end, of: index, at: offset, mayLose: false) }
  }

  private static func read(_ file: Int32, _ offset: Int64, _ count: Int) -> End {
    var bytes = [UInt8](repeating: 0, count: count)
    let done = pread(file, &bytes, count, off_t(offset))
    return done < 0 ? .failure(Errno.current) : .bytes(Array(bytes.prefix(done)))
  }

  /// - Parameter mayLose: whether the mount was killed meanwhile.
  private func take(_ end: End, of index: Int, at offset: Int64, mayLose: Bool) {
    let handle = handles[index]
    switch end {
    case .failure(let errno):
      note("read \(handle.episode) at \(offset): \(errno)")
      let isLost = [.ENOTCONN, .ECONNABORTED].contains(errno) && mayLose
      if ![.EIO, .ESTALE].contains(errno) && !isLost { fail("read: \(errno)") }
    case .bytes(let bytes):
      note("read \(handle.episode) at \(offset): \(bytes.count)")
      handles[index].position = offset + Int64(bytes.count)
      if bytes.isEmpty { return }
      bytesCompared += Int64(bytes.count)
      let possible = served.candidates(
        handle.candidates, handle.episode, agreeingWith: bytes, at: offset)
      if possible.isEmpty {
        let why = served.differences(handle.candidates, handle.episode, from: bytes, at: offset)
        fail("wrong bytes in \(handle.episode) at \(offset), \(bytes.count): \(why)")
      }
      handles[index].candidates = possible
    }
  }

  private func closeOne() {
    guard !handles.isEmpty else { return }
    note("close")
    close(handles.remove(at: next(below: handles.count)))
  }

  private func close(_ handle: Handle) { Glibc.close(handle.file) }

  // MARK: Verbs

  private func set(_ name: String, _ value: String, _ episode: Int) {
    note("\(name) \(value) \(episode)")
    let path = path(episode)
    let errno = bounded("setfattr") { () -> Errno? in
      do throws(PosixError) {
        try ExtendedAttributes.set("user.podcastfs.\(name)", of: path, to: value)
        return nil
      } catch {
        return error.errno
      }
    }
    if let errno, let errno { fail("setfattr: \(errno)") }
  }

  /// What people do between the downloads.
  private func change(_ episode: Int) {
    switch next(below: 4) {
    case 0: set("played", "\(next(below: 2))", episode)
    case 1:
      searches += 1
      note("search \(searches)")
      let path = "\(fixture.root)/Search/harbour limit:\(searches % 100 + 1)"
      let errno = bounded("mkdir") { () -> Errno? in
        if let errno = errnoOf({ mkdir(path, 0o755) }) { return errno }
        _ = try? Directories.names(in: "\(path)/\(MountFixture.podcast)")
        return errnoOf { rmdir(path) }
      }
      if let errno, let errno { fail("search: \(errno)") }
    case 2:
      note("list the views")
      let root = fixture.root
      _ = bounded("list") {
        for view in ["Downloading", "Downloaded", "Latest", "Search"] {
          _ = try? Directories.names(in: "\(root)/\(view)")
        }
      }
    default: list()
    }
  }

  /// The process that serves the mount.
  var mountProcess: Int32? { fixture.mountProcess }

  private func list() {
    note("list")
    let path = fixture.podcastPath
    let names = bounded("list") { (try? Directories.names(in: path))?.sorted() } ?? nil
    if names != MountFixture.names { fail("listed: \(names.map { "\($0)" } ?? "nothing")") }
  }

  // MARK: What goes wrong

  private func setClock() throws {
    guard let clock else { return }
    let ahead = FakeClock.jumps[next(below: FakeClock.jumps.count)]
    note("the clock is \(ahead) s ahead")
    try clock.set(ahead: ahead)
  }

  private func killDaemon() {
    note("kill the daemon")
    guard let daemon = fixture.daemon, kill(daemon, SIGKILL) == 0 else { return }
    kills += 1
  }

  private func killMount() throws {
    let triggers = ["open", "open", "open", "read", "never"]
    let sizes = ["10G", "10G", "900K"]
    options = "trigger=\(triggers[next(below: 5)]),cache_size=\(sizes[next(below: 3)])"
    let isForGood = next(below: 2) == 0
    note("kill the mount\(isForGood ? " for good" : ""), then \(options)")
    guard let process = fixture.mountProcess else { return fail("there is no mount") }
    if isForGood { try fixture.killForGood() } else { kill(process, SIGKILL) }
    kills += 1
    let isGone = eventually { kill(process, 0) != 0 || Self.isZombie(process) }
    if !isGone { fail("a killed mount stays") }
    for handle in handles { close(handle) }
    handles = []
    try mount()
  }

  private static func isZombie(_ process: Int32) -> Bool {
    guard let status = try? Directories.read("/proc/\(process)/stat") else { return true }
    return String(decoding: status, as: UTF8.self).contains(") Z")
  }

  /// Either process dies while somebody waits.
  private func killDuringRead(_ episode: Int) throws {
    open(episode)
    guard let handle = handles.last, handle.episode == episode else { return }
    let offset = Int64(next(below: Int(served.size(episode))))
    let isMount = next(below: 2) == 0
    let delay = Double(next(below: 30_000)) / 1e6
    guard let victim = isMount ? fixture.mountProcess : fixture.daemon else { return }
    let end = bounded("read of \(episode) while a process is killed") { () -> End in
      // The blow falls at a moment of the read, at the latest when it has ended.
      let hasEnded = Monitor(false)
      let isKilled = Monitor(false)
      PosixThread.start("killer") {
        _ = hasEnded.wait(until: .after(delay)) { $0 ? true : nil }
        kill(victim, SIGKILL)
        isKilled.withLockNotifying { $0 = true }
      }
      let end = Self.read(handle.file, offset, 65_536)
      hasEnded.withLockNotifying { $0 = true }
      _ = isKilled.wait(until: .after(patience)) { $0 ? true : nil }
      return end
    }
    kills += 1
    if let end { take(end, of: handles.count - 1, at: offset, mayLose: isMount) }
    _ = eventually { kill(victim, 0) != 0 || Self.isZombie(victim) }
    guard isMount else { return }
    for handle in handles { close(handle) }
    handles = []
    note("mount again")
    try mount()
  }

  private func deleteCache() {
    note("delete the cache")
    let episodes = fixture.environment.home.path("cache") + "/podcastfs/episodes"
    for name in (try? Directories.names(in: episodes)) ?? [] { unlink(episodes + "/" + name) }
  }

  // MARK: What must hold

  private func checkAttributes() {
    for episode in 0..<3 {
      let path = path(episode)
      let names = ["state", "error", "progress", "bytes_received", "bytes_total"]
      let found = bounded("getfattr") {
        names.map { (try? ExtendedAttributes.get("user.podcastfs.\($0)", of: path)) ?? nil }
      }
      guard let found, let state = found[0] else {
        fail("episode \(episode) has no state")
        continue
      }
      if state == "failed" && found[1] == nil { fail("\(episode) failed without a reason") }
      if state == "cached" && found[2] != "100.0" { fail("\(episode) is cached at \(found[2] ?? "nothing")") }
      if let received = found[3].flatMap({ Int64($0) }), let total = found[4].flatMap({ Int64($0) }),
        received > total, state == "cached"
      {
        fail("\(episode) has \(received) of \(total)")
      }
    }
  }

  /// Closes all, and waits until nothing is open, parked or under way.
  func rest() throws {
    for handle in handles { close(handle) }
    handles = []
    try fixture.awaitRest()
  }

  /// The origin behaves from now on: everything can be read to its end.
  func finish() throws {
    note("finish")
    for handle in handles { close(handle) }
    handles = []
    options = "trigger=open,cache_size=10G"
    try killMount()
    options = "trigger=open,cache_size=10G"
    try fixture.unmount()
    try mount()
    for episode in 0..<3 {
      served.behave(episode)
      set("state", "downloading", episode)
      let path = path(episode)
      let isCached = try eventually {
        try ExtendedAttributes.get("user.podcastfs.state", of: path) == "cached"
      }
      if !isCached {
        let error = try ExtendedAttributes.get("user.podcastfs.error", of: path)
        fail("episode \(episode) never came: \(error ?? "no error")")
        continue
      }
      let bytes = bounded("cat") { (try? Directories.read(path, limit: 1 << 20)) ?? [] } ?? []
      let possible = served.candidates(nil, episode, agreeingWith: bytes, at: 0)
      if bytes.isEmpty || !possible.contains(where: { $0.body.size == Int64(bytes.count) }) {
        fail("episode \(episode) ends as \(bytes.count) bytes of no version")
      }
    }
  }
}
