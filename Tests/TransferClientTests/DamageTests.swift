import Configuration
import EpisodeCache
import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol

/// What is cached is not what came: readers get the right bytes all the same, at the first try.
@Suite struct DamageTests {
  let user: TransferFixture
  let body = TestBody(seed: 51, size: 5_000_000)

  init() throws { user = try TransferFixture() }

  private func cached(_ client: TransferClient) throws -> TransferRequest {
    let request = user.serve(body)
    #expect(client.confirmed { $0.order(.start(request), completion: $1) })
    #expect(client.reaches(.cached, request))
    #expect(eventually { access(user.layout.map(request.key, user.generation(request)), F_OK) != 0 })
    return request
  }

  private func damage(_ request: TransferRequest, at offset: Int64, keepsTime: Bool) throws {
    let path = user.layout.data(request.key, user.generation(request))
    var status = stat()
    stat(path, &status)
    let file = try FileDescriptor(opening: path, O_RDWR)
    try file.write([UInt8](repeating: 0xee, count: 100), at: offset)
    if keepsTime {
      var times = [status.st_atim, status.st_mtim]
      utimensat(AT_FDCWD, path, &times, 0)
    }
  }

  /// What does not agree with its checksums; nil where nothing is cached.
  private func damaged(_ client: TransferClient, _ request: TransferRequest) -> [Range<Int64>]? {
    client.status(of: request.key).flatMap {
      try? GenerationCheck(client.layout, $0.key, $0.generation).damaged
    }
  }

  /// Rot leaves no trace but in the sums.
  @Test func rotIsFoundByVerifyAndFetchedAgain() throws {
    let client = try user.client()
    let request = try cached(client)
    #expect(damaged(client, request) == [])
    try damage(request, at: 4_500_000, keepsTime: true)
    let json = try Products.run("podcastfs", ["verify", "--json"], in: user.environment)
    #expect(json.end == .exit(0), "\(json.errors)")
    #expect(json.output.contains(request.key.text), "\(json.output)")
    #expect(
      eventually {
        damaged(client, request) == []
          && client.status(of: request.key)?.state == .cached
      })
    #expect(body.firstDifference(try client.opened(request).readAll()) == nil)
    let again = try Products.run("podcastfs", ["verify"], in: user.environment)
    #expect(again.end == .exit(0) && again.output.contains("nothing is damaged"), "\(again.output)")
  }

  /// A disk that cannot read what it has ends no reader without a reason.
  @Test func aReaderOfWhatTheDiskCannotReadHearsWhy() throws {
    let client = try user.client()
    let request = try cached(client)
    let episode = try client.opened(request)
    #expect(truncate(user.layout.data(request.key, user.generation(request)), 1_000_000) == 0)
    var buffer = [UInt8](repeating: 0, count: 4096)
    #expect(buffer.withUnsafeMutableBytes { episode.readCached(at: 2_000_000, into: $0) } == nil)
    let end = Monitor<TransferFailure?>(nil)
    _ = episode.whenAvailable(at: 2_000_000, count: 4096) { failure in end.withLock { $0 = failure } }
    #expect(end.withLock { $0 }?.errno == .EIO)
    #expect(client.status(of: request.key)?.readFailure?.contains("verify") == true)
  }

  /// What is wanted of an open file that can't be opened for the moment is not stale.
  @Test func aReaderWhoseStoreIsRefusedForAMomentGoesOn() throws {
    let client = try user.client()
    let request = user.serve(body, .with { $0.rate = 1_000_000 })
    let episode = try client.opened(request)
    _ = try episode.read(at: 0, 200_000)
    let map = user.layout.map(request.key, user.generation(request))
    #expect(user.killDaemon())
    unlink(map)
    // As where the daemon has too many files open.
    mkdir(map, 0o700)
    let late = Monitor<Result<Int, TransferFailure>?>(nil)
    let waiting = episode.whenAvailable(at: 1_500_000, count: 4096) { failure in
      late.withLockNotifying { $0 = failure.map { .failure($0) } ?? .success(1) }
    }
    #expect(eventually { self.user.daemon != nil })
    #expect(late.wait(until: .after(2)) { $0 } == nil)
    rmdir(map)
    user.origin.change("/a.mp3") { $0.behaviour.rate = nil }
    #expect(late.wait(until: .after(patience)) { $0 } == .success(1))
    #expect(body.firstDifference(try episode.readAll()) == nil)
    _ = waiting
  }
}
