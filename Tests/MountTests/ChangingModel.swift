import Glibc
import PosixKit
import TestSupport

/// Changes of all kinds on one living mount, each compared with what must come of it. None waits for a host that is
/// slow: as many as possible in little time.
final class ChangingModel {
  let fixture: MountFixture
  /// How many there were of each kind.
  private(set) var counts: [String: Int] = [:]
  private var random: SeededGenerator
  /// What each episode is now.
  private var bodies: [TestBody]
  /// How many episodes the feed has told of.
  private var published = 1
  private var played = [false, false, false]
  private var nextLimit = 1

  init(seed: UInt64) throws {
    fixture = try MountFixture(size: 20_000)
    bodies = fixture.bodies
    random = SeededGenerator(seed: seed)
    fixture.publish(count: published)
    try fixture.mount()
    try fixture.makeSearch()
    try check()
  }

  private func next(below bound: Int) -> Int { Int(random.next(upperBound: UInt64(bound))) }

  private func expect(_ holds: Bool, _ what: @autoclosure () -> String) throws {
    if !holds { throw Failed("after \(counts): \(what())") }
  }

  private func check() throws {
    let names = try fixture.list(fixture.podcastPath)
    try expect(names == Array(MountFixture.names.prefix(published)), "listed: \(names)")
  }

  /// One change, chosen at random.
  func change() throws {
    let episode = next(below: published) + 1
    let path = fixture.episode(episode)
    switch next(below: 1000) {
    case 0..<400: try mark(episode)
    case 400..<560: try order("downloading", path, gives: ["queued", "downloading", "cached"])
    case 560..<640: try order("paused", path, gives: ["paused", "cached"])
    case 640..<720: try order("remote", path, gives: ["remote"])
    case 720..<820: try read(episode)
    case 820..<870: try replace(episode)
    case 870..<940: try search()
    case 940..<980: try follow()
    case 980..<990: try publish()
    default:
      count("listings")
      try check()
    }
  }

  private func count(_ kind: String) { counts[kind, default: 0] += 1 }

  private func mark(_ episode: Int) throws {
    count("marks")
    let path = fixture.episode(episode)
    played[episode - 1].toggle()
    try fixture.set("played", played[episode - 1] ? "1" : "0", path)
    let found = try fixture.attribute("played", path)
    try expect(found == (played[episode - 1] ? "1" : "0"), "played is \(found ?? "absent")")
  }

  private func order(_ state: String, _ path: String, gives states: Set<String>) throws {
    count("orders")
    try fixture.set("state", state, path)
    let found = try fixture.attribute("state", path) ?? "absent"
    try expect(states.contains(found), "\(state) gives \(found)")
  }

  private func read(_ episode: Int) throws {
    count("files read")
    let bytes = try Directories.read(fixture.episode(episode), limit: 1 << 20)
    try expect(bytes == bodies[episode - 1].bytes, "\(bytes.count) bytes of episode \(episode)")
  }

  /// Another file at the server, of another size: seen once what was here has been dropped.
  private func replace(_ episode: Int) throws {
    count("other files")
    let path = fixture.episode(episode)
    let body = TestBody(seed: UInt64(next(below: 1 << 30)), size: Int64(20_000 + next(below: 20_000)))
    try fixture.set("state", "remote", path)
    fixture.origin.serve("/\(episode).mp3", OriginResource(body))
    bodies[episode - 1] = body
    let bytes = try Directories.read(path, limit: 1 << 20)
    try expect(bytes == body.bytes, "\(bytes.count) bytes of the new file \(episode), of \(body.size)")
    let size = try fixture.status(path).st_size
    try expect(size == body.size, "its size is \(size), not \(body.size)")
  }

  private func makeSearch() throws -> String {
    // What the service finds has the word in it.
    let path = "\(fixture.root)/Search/harbour limit:\(nextLimit)"
    nextLimit = nextLimit % 100 + 1
    if let errno = errnoOf({ mkdir(path, 0o755) }) { throw Failed("mkdir: \(errno)") }
    return path
  }

  private func search() throws {
    count("searches")
    let path = try makeSearch()
    let names = try fixture.list("\(path)/\(MountFixture.podcast)")
    try expect(names.count == published, "the search lists \(names)")
    if let errno = errnoOf({ rmdir(path) }) { throw Failed("rmdir: \(errno)") }
    try expect(errnoOf { access(path, F_OK) } == .ENOENT, "the search is still there")
  }

  private func follow() throws {
    count("subscriptions")
    let path = try makeSearch()
    let folder = "\(fixture.root)/Subscriptions/\(MountFixture.podcast)"
    if let errno = errnoOf({ rename("\(path)/\(MountFixture.podcast)", folder) }) {
      throw Failed("rename: \(errno)")
    }
    let names = try fixture.list(folder)
    try expect(names.count == published, "the subscription lists \(names)")
    let latest = try fixture.list("\(fixture.root)/Latest")
    let unplayed = played.prefix(published).count { !$0 }
    try expect(latest.count == unplayed, "Latest lists \(latest)")
    if let errno = errnoOf({ rmdir(folder) }) { throw Failed("rmdir: \(errno)") }
    try expect(try fixture.list("\(fixture.root)/Latest").isEmpty, "Latest still lists something")
    if let errno = errnoOf({ rmdir(path) }) { throw Failed("rmdir: \(errno)") }
  }

  /// A further episode, and a refresh.
  private func publish() throws {
    guard published < MountFixture.names.count else { return try mark(1) }
    count("new episodes")
    published += 1
    fixture.publish(count: published)
    let result = try fixture.run("refresh", fixture.podcastPath)
    try expect(result.end == .exit(0), "refresh: \(result.errors)")
    // The command is a process of its own: the mount follows as fast as it can.
    _ = eventually { (try? fixture.list(fixture.podcastPath))?.count == published }
    try check()
  }

  /// Drops all, and waits until nothing is under way.
  func rest() throws {
    for episode in 1...published { try fixture.set("state", "remote", fixture.episode(episode)) }
    try fixture.awaitRest()
  }
}
