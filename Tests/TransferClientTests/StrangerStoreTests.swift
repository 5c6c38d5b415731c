import Configuration
import Glibc
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol
import TransferStore

/// What is no regular file beside the store of downloads, where SQLite keeps its own, holds nobody up.
@Suite struct StrangerStoreTests {
  let user: TransferFixture
  let body = TestBody(seed: 53, size: 300_000)

  init() throws { user = try TransferFixture() }

  private var store: String { user.places.state + "/transfers.sqlite" }

  private func make(_ kind: String, _ path: String) throws {
    switch kind {
    case "fifo": try retrying("make", path) { mkfifo(path, 0o600) }
    case "link": try retrying("make", path) { symlink("/etc/passwd", path) }
    default: try Directories.create(path + "/somebody's")
    }
  }

  /// One episode that is cached, and one that is wanted: only the store knows of that one.
  private func fill() throws -> (cached: TransferRequest, wanted: TransferRequest) {
    let client = try user.client()
    let requests = (user.serve(body), user.serve(body, at: "/b.mp3", .with { $0.refusesToAnswer = true }))
    #expect(client.confirmed { $0.start(requests.0, completion: $1) })
    #expect(client.reaches(.cached, requests.0))
    #expect(client.confirmed { $0.start(requests.1, completion: $1) })
    client.stop()
    let daemon = try #require(user.daemon)
    kill(daemon, SIGTERM)
    #expect(eventually { !user.isRunning(daemon) })
    // The last to close it moves all that the log has into the file.
    #expect(
      eventually {
        let count = try? TransferStore(state: user.places.state).records().count
        return count == 2 && access(store + "-wal", F_OK) != 0
      })
    return requests
  }

  @Test(arguments: ["-wal", "-shm", "-journal"], ["fifo", "link", "directory"])
  func isSetAside(_ suffix: String, _ kind: String) throws {
    let requests = try fill()
    try make(kind, store + suffix)
    #expect(
      TransferStore.condition(in: user.places.state) == .unreadable("\(store)\(suffix) is no regular file"))
    let client = try user.client()
    client.waitUntilCurrent(until: .after(patience))
    #expect(client.daemonFailure == nil)
    #expect(client.reaches(.cached, requests.cached))
    #expect(body.firstDifference(try client.opened(requests.cached).readAll()) == nil)
    #expect(user.origin.requests("/a.mp3").count == 1)
    // Its log may have held the latest; what SQLite makes anew costs nothing.
    #expect((client.status(of: requests.wanted.key) != nil) == (suffix != "-wal"))
    let log = String(decoding: try Directories.read(user.places.logFile), as: UTF8.self)
    #expect(log.contains("\(store)\(suffix) is no regular file") && log.contains("set aside as"), "\(log)")
    var status = stat()
    #expect(lstat(store + ".damaged" + suffix, &status) == 0)
    #expect((access(store + ".damaged", F_OK) == 0) == (suffix == "-wal"))
    #expect(TransferStore.condition(in: user.places.state) == .sound)
    let doctor = try Products.run("podcastfs", ["doctor"], in: user.environment, seconds: 60)
    #expect(doctor.output.contains("set aside as \(store).damaged"), "\(doctor.output)")
  }

  /// Where it can't be set aside who waits hears which file it is.
  @Test func isNamedWhereItStays() throws {
    let requests = try fill()
    try make("fifo", store + "-shm")
    try make("directory", store + ".damaged-shm")
    let client = try user.client()
    let failure = try #require(client.openFailure(requests.wanted))
    #expect(
      failure.message.hasSuffix("cannot start: \(store)-shm is no regular file: move it away"), "\(failure)")
  }
}
