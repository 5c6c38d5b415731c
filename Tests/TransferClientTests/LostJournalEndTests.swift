import EpisodeCache
import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol

/// The daemon is killed, what it has stored is overwritten in part, and its journal cut: readers get the server's bytes.
@Suite struct LostJournalEndTests {
  let user: TransferFixture
  let body = TestBody(seed: 63, size: 6_200_000)

  init() throws { user = try TransferFixture() }

  enum Stored: CaseIterable {
    case whole, kept
    /// Some of it, with a piece out of order.
    case part
  }

  /// Overwrites what is stored, and cuts the journal after so many twentieths.
  private func damage(_ request: TransferRequest, _ part: Int) throws {
    let journal = user.layout.journal(request.key, 1)
    let size = try Directories.read(journal).count
    #expect(truncate(journal, size * part / 20) == 0)
    let data = user.layout.data(request.key, 1)
    let file = try FileDescriptor(opening: data, O_WRONLY)
    for (start, count) in [(Int64(300_000), 1_500_000), (4_500_000, 200_000)] {
      let end = Int64(try file.status().st_size)
      if start + Int64(count) <= end { try file.write([UInt8](repeating: 0, count: count), at: start) }
    }
  }

  private func store(_ stored: Stored, _ request: TransferRequest, _ client: TransferClient) throws {
    switch stored {
    case .whole, .kept:
      if stored == .kept { #expect(client.confirmed { $0.setKept(request, true, completion: $1) }) }
      #expect(client.confirmed { $0.start(request, completion: $1) })
      #expect(client.reaches(.cached, request))
      #expect(user.filesAreClosed(request, 1))
    case .part:
      let episode = try client.opened(request, .fetchOnly)
      _ = try episode.read(at: 0, 2_000_000)
      _ = try episode.read(at: 4_450_000, 500_000)
      _ = try episode.read(at: 2_000_000, 1_000_000)
      episode.close()
      #expect(user.filesAreClosed(request, 1))
    }
  }

  private func expectRight(_ request: TransferRequest, _ client: TransferClient, _ what: String) throws {
    let episode = try client.opened(request)
    #expect(body.firstDifference(try episode.readAll()) == nil, "\(what)")
    #expect(client.reaches(.cached, request), "\(what)")
    episode.close()
    #expect(user.filesAreClosed(request, episode.generation), "\(what)")
    let status = try #require(client.status(of: request.key))
    let check = try #require(try client.verify(status))
    #expect(check.damaged.isEmpty && check.unsummed == 0 && check.sound == body.size, "\(what): \(check)")
    let stored = try Directories.read(user.layout.data(request.key, status.generation))
    #expect(body.firstDifference(stored) == nil, "\(what)")
  }

  @Test(arguments: Stored.allCases) func theServersBytesAreRead(_ stored: Stored) throws {
    for part in stride(from: 1, through: 20, by: 3) {
      let what = "\(stored), \(part) of 20 left"
      let request = user.serve(body, at: "/\(stored)\(part).mp3")
      var client = try user.client()
      try store(stored, request, client)
      // A client that goes on, or another one.
      let isOther = part % 2 == 0
      if isOther { client.stop() }
      #expect(user.killDaemon())
      try damage(request, part)
      if isOther { client = try user.client() }
      try expectRight(request, client, what)
      client.stop()
    }
  }
}
