import Glibc
import HTTPServerKit
import PodcastModel
import PosixKit
import Testing
import TransferClient
import TransferProtocol

@Suite struct MainJobTests {
  @Test func anOpenedEpisodeStreamsAndIsRememberedWhole() throws {
    let user = try TransferFixture()
    defer { user.end() }
    let bytes = pattern(3_000_000)
    let origin = try HTTPServer { request, writer throws(ResponseWriter.Ended) in
      var content = ServedContent(bytes, mediaType: "audio/mpeg")
      content.etag = "\"one\""
      content.rate = 10_000_000
      try content.respond(to: request, writer)
    }
    defer { origin.stop() }
    let request = TransferFixture.request(origin.address + "/episode.mp3")
    let client = try user.client()
    defer { client.stop() }
    let episode = try client.opened(request)
    #expect(episode.size == 3_000_000)
    #expect(try episode.readAll() == bytes)
    #expect(client.waits(for: .cached, of: request.key))
    episode.close()

    // Another client, without asking anybody.
    let second = try user.client(isMount: false)
    defer { second.stop() }
    #expect(second.status(of: request.key)?.received == 3_000_000)
    #expect(try second.opened(request, .cachedOnly).readAll() == bytes)
  }
}
