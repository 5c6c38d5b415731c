import Configuration
import EpisodeCache
import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol

/// What is no regular file in the place of a cached episode's is not ours: it is as if the file was missing.
@Suite struct StrangerFileTests {
  let user: TransferFixture
  let body = TestBody(seed: 52, size: 1_000_000)

  init() throws { user = try TransferFixture() }

  enum Kind: CaseIterable {
    case fifo, link, directory, fullDirectory

    func make(_ path: String) throws {
      switch self {
      case .fifo: try retrying("make", path) { mkfifo(path, 0o600) }
      case .link: try retrying("make", path) { symlink("/etc/passwd", path) }
      case .directory: try Directories.create(path)
      case .fullDirectory: try Directories.create(path + "/somebody's")
      }
    }
  }

  private func cached() throws -> TransferRequest {
    let client = try user.client()
    defer { client.stop() }
    let request = user.serve(body)
    #expect(client.confirmed { $0.start(request, completion: $1) })
    #expect(client.reaches(.cached, request))
    #expect(eventually { access(user.layout.map(request.key, 1), F_OK) != 0 })
    #expect(user.filesAreClosed(request, 1))
    return request
  }

  private var log: String {
    String(decoding: (try? Directories.read(user.places.logFile)) ?? [], as: UTF8.self)
  }

  private func expectFetched(_ request: TransferRequest, _ kind: Kind, _ client: TransferClient) throws {
    #expect(client.reaches(.remote, request))
    #expect(client.status(of: request.key)?.received == 0)
    #expect(body.firstDifference(try client.opened(request).readAll()) == nil)
    #expect(client.reaches(.cached, request))
    #expect(user.origin.requests("/a.mp3").count == 2)
    let path = user.layout.data(request.key, 1)
    #expect(eventually { log.contains("\(path) is no regular file: ") }, "\(log)")
    // What is in it is somebody's.
    #expect((access(path + "/somebody's", F_OK) == 0) == (kind == .fullDirectory))
    client.stop()
    #expect(try user.client().reaches(.cached, request))
  }

  @Test(arguments: Kind.allCases) func isFetchedAgainByTheNextDaemon(_ kind: Kind) throws {
    let request = try cached()
    let daemon = try #require(user.daemon)
    kill(daemon, SIGTERM)
    #expect(eventually { !user.isRunning(daemon) })
    let path = user.layout.data(request.key, 1)
    unlink(path)
    try kind.make(path)
    try expectFetched(request, kind, try user.client())
  }

  /// Nothing vanishes: it is replaced in one step.
  @Test(arguments: Kind.allCases) func isFetchedAgainByTheDaemonThatRuns(_ kind: Kind) throws {
    let request = try cached()
    let client = try user.client()
    #expect(client.reaches(.cached, request))
    let path = user.layout.data(request.key, 1)
    let other = user.environment.home.path("other")
    try kind.make(other)
    // Of a directory and a file, neither can replace the other.
    if kind == .directory || kind == .fullDirectory { unlink(path) }
    #expect(rename(other, path) == 0)
    try expectFetched(request, kind, client)
  }

  /// A reader goes on with what it has open.
  @Test func hasNoHoldOfWhoReads() throws {
    let request = try cached()
    let client = try user.client()
    let episode = try client.opened(request)
    let path = user.layout.data(request.key, 1)
    unlink(path)
    try Kind.fifo.make(path)
    #expect(body.firstDifference(try episode.readAll()) == nil)
    #expect(client.reaches(.remote, request))
    #expect(user.origin.requests("/a.mp3").count == 1)
  }

  /// Nobody has it open.
  @Test(arguments: Kind.allCases) func isEvicted(_ kind: Kind) throws {
    let request = try cached()
    let path = user.layout.data(request.key, 1)
    unlink(path)
    try kind.make(path)
    #expect(user.layout.evict(request.key, 1))
    var status = stat()
    #expect((lstat(path, &status) == 0) == (kind == .fullDirectory))
  }
}
