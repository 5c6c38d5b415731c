import Configuration
import EpisodeCache
import Glibc
import PodcastModel
import PosixKit
import SQLiteKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol
import TransferStore

/// The state directory is lost, damaged or can't be used: what the cache holds is gone on with, and who asks hears why
/// where that can't be.
@Suite struct LostStoreTests {
  let user: TransferFixture
  let body = TestBody(seed: 41, size: 3_000_000)

  init() throws { user = try TransferFixture() }

  private var store: String { user.places.state + "/transfers.sqlite" }
  private var log: String {
    String(decoding: (try? Directories.read(user.places.logFile)) ?? [], as: UTF8.self)
  }

  /// One episode that is kept, one that is not, and one that is paused in the middle.
  private func fill() throws -> (kept: TransferRequest, other: TransferRequest, paused: TransferRequest) {
    let client = try user.client()
    let requests = (
      user.serve(body, at: "/kept.mp3"), user.serve(body, at: "/other.mp3"),
      user.serve(body, at: "/paused.mp3", .with { $0.rate = 1_000_000 })
    )
    for request in [requests.0, requests.1] {
      #expect(client.confirmed { $0.order(.start(request), completion: $1) })
      #expect(client.reaches(.cached, request))
    }
    #expect(client.confirmed { $0.order(.setKept(requests.0, true), completion: $1) })
    let episode = try client.opened(requests.2)
    _ = try episode.read(at: 0, 300_000)
    #expect(client.confirmed { $0.order(.pause(requests.2), completion: $1) })
    episode.close()
    client.stop()
    #expect(user.filesAreClosed(requests.0) && user.filesAreClosed(requests.1))
    return requests
  }

  private func endDaemon() throws {
    let daemon = try #require(user.daemon)
    kill(daemon, SIGTERM)
    #expect(eventually { !self.user.isRunning(daemon) })
  }

  /// Neither in the file nor in its log.
  @Test func ofWhatIsForgottenNoWordStays() throws {
    let requests = try fill()
    try endDaemon()
    let words = Array("/other.mp3".utf8)
    func holdsThem() -> Bool {
      ["", "-wal"].contains { ((try? Directories.read(store + $0)) ?? []).firstRange(of: words) != nil }
    }
    #expect(holdsThem())
    let opened = try TransferStore(state: user.places.state)
    try opened.save([], removing: [requests.other.key])
    #expect(!holdsThem())
    #expect(try opened.records().count == 2)
  }

  /// Who only looks sees what is here, too.
  @Test(arguments: [true, false]) func whatIsHereIsShownAlsoWhereTheStoreIsNot(isLost: Bool) throws {
    let requests = try fill()
    try endDaemon()
    for suffix in ["", "-wal", "-shm"] where isLost || suffix != "" { unlink(store + suffix) }
    if !isLost { try Directories.replace(store, with: [UInt8](repeating: 0x78, count: 8192)) }
    let client = try user.client()
    #expect(client.reaches(.cached, requests.other) && client.reaches(.cached, requests.kept))
    client.stop()
  }

  /// What is complete is known by its files; titles, marks and what was paused are lost.
  private func expectComplete(
    _ requests: (kept: TransferRequest, other: TransferRequest, paused: TransferRequest)
  ) throws {
    let client = try user.client()
    // Nothing is asked for: it is found.
    let third = user.serve(TestBody(seed: 1, size: 100_000), at: "/new.mp3")
    #expect(client.confirmed { $0.order(.start(third), completion: $1) })
    #expect(client.reaches(.cached, requests.kept) && client.reaches(.cached, requests.other))
    #expect(client.status(of: requests.kept.key)?.received == body.size)
    #expect(body.firstDifference(try client.opened(requests.kept).readAll()) == nil)
    #expect(user.origin.requests("/kept.mp3").count == 1)
    #expect(user.origin.requests("/other.mp3").count == 1)
    #expect(client.confirmed { $0.order(.setKept(requests.kept, true), completion: $1) })
    #expect(client.status(of: requests.kept.key)?.title == "Title")
  }

  @Test(arguments: [SIGTERM, SIGKILL]) func aLostStateDirectoryLosesNoEpisode(_ number: Int32) throws {
    let requests = try fill()
    let daemon = try #require(user.daemon)
    kill(daemon, number)
    #expect(eventually { !self.user.isRunning(daemon) })
    for name in try Directories.names(in: user.places.state) { unlink(user.places.state + "/" + name) }
    try expectComplete(requests)
  }

  @Test(arguments: ["garbage", "zeros", "cut"]) func aDamagedStoreIsSetAside(_ how: String) throws {
    let requests = try fill()
    try endDaemon()
    // The last to close it moves all that the log has into the file: not while the client that was stopped has it open.
    #expect(
      eventually {
        let count = try? TransferStore(state: user.places.state).records().count
        return count == 3 && access(store + "-wal", F_OK) != 0
      })
    let bytes = try Directories.read(store)
    unlink(store + "-wal")
    unlink(store)
    switch how {
    case "garbage": try Directories.replace(store, with: Array("no database at all\n".utf8) + bytes)
    case "zeros":
      // The first page is right, the table's own are not.
      let zeros = [UInt8](repeating: 0, count: bytes.count - 4096)
      try Directories.replace(store, with: Array(bytes.prefix(4096)) + zeros)
    default: try Directories.replace(store, with: Array(bytes.prefix(5000)))
    }
    try expectComplete(requests)
    // A page that is cut may still look like one without rows.
    let isSetAside = log.contains("set aside")
    #expect(isSetAside || how == "cut", "\(bytes.count) bytes; \(log)")
    #expect(access(store + ".damaged", F_OK) == 0 || !isSetAside)
  }

  /// As a store restored from a backup of before.
  @Test func aRecordThatTheStoreLacksIsTakenUp() throws {
    let requests = try fill()
    try endDaemon()
    try TransferStore(state: user.places.state).save([], removing: [requests.kept.key])
    try expectComplete(requests)
  }

  @Test func whoWaitsHearsWhyTheDaemonCanNotStart() throws {
    // A directory in the place of its lock.
    #expect(mkdir(DaemonPlace.lockFile(in: user.places.state), 0o700) == 0)
    let client = try user.client(isMount: false)
    let request = user.serve(body, at: "/first.mp3")
    let failure = try #require(client.openFailure(request))
    #expect(failure.errno == .EIO && failure.message.contains("cannot start"), "\(failure)")
    #expect(failure.message.contains("transferd.lock"))
    #expect(client.status(of: request.key)?.readFailure == failure.message)
    #expect(log.contains("cannot start") && log.contains("transferd.lock"))
    #expect(client.daemonFailure?.contains("transferd.lock") == true)
    let status = try Products.run("podcastfs", ["status"], in: user.environment)
    #expect(status.end == .exit(0) && status.errors.contains("transferd.lock"), "\(status.errors)")
    let doctor = try Products.run("podcastfs", ["doctor"], in: user.environment, seconds: 60)
    #expect(doctor.output.contains("the transfer daemon could not start"), "\(doctor.output)")
    // When it can, nobody says so any more.
    rmdir(DaemonPlace.lockFile(in: user.places.state))
    #expect(eventually { client.openFailure(self.user.serve(self.body)) == nil })
    #expect(client.daemonFailure == nil)
    #expect(client.status(of: request.key)?.readFailure == nil)
  }

  @Test func aMissingDaemonIsSaidToBe() throws {
    let client = try TransferClient(
      places: user.places, settings: Settings(), isMount: false, daemon: "/nonexistent/podcastfs-transferd")
    let failure = try #require(client.openFailure(user.serve(body)))
    #expect(failure.message.contains("/nonexistent/podcastfs-transferd"), "\(failure)")
  }

  /// A bit of the schema is another one: every byte of it reads well.
  @Test(arguments: [
    "DROP TABLE transfer; CREATE TABLE transfer (kez TEXT)",
    "PRAGMA user_version = 0; PRAGMA application_id = 0",
    "PRAGMA user_version = 131075; PRAGMA application_id = 0",
    "PRAGMA user_version = 9; PRAGMA application_id = \(0xfff6_0009 - (1 << 32))",
    "ALTER TABLE transfer RENAME COLUMN key TO kez",
  ])
  func aStoreOfAnotherShapeIsSetAside(_ change: String) throws {
    let requests = try fill()
    try endDaemon()
    try Database(path: store).script(change)
    let looking = try user.client(isMount: false)
    #expect(looking.reaches(.cached, requests.kept) && looking.reaches(.cached, requests.other))
    #expect(looking.confirmed { $0.order(.setKept(requests.other, true), completion: $1) })
    #expect(log.contains("the database of downloads cannot be used"), "\(log)")
    looking.stop()
  }
}
