internal import HTTPServerKit
internal import PodcastModel
internal import PosixKit

/// A small catalogue served from this machine: a search service in Apple's format, feeds, covers and audio,
/// all of the project's own making. `podcastfs demo` mounts it.
package final class DemoCatalogue: Sendable {
  /// What to give as `search_url`.
  package let searchURL: String
  private let server: HTTPServer

  /// The port that it takes where it is free: so the feeds of an earlier demonstration are found again.
  package static let usualPort: UInt16 = 47_210
  /// Bytes per second of an episode: three times what playing takes, slow enough to watch the download.
  package static let audioRate: Int64 = 12_000

  /// Serves until `stop`.
  /// - Parameters:
  ///   - port: 0 for one that the system chooses; the usual one gives way to another where it is taken.
  ///   - audioRate: bytes per second of an episode.
  /// - Throws: `PosixError` where this machine gives no port.
  package init(port: UInt16 = usualPort, audioRate: Int64 = audioRate) throws {
    do {
      server = try Self.serve(port, audioRate)
    } catch  where error.errno == .EADDRINUSE {
      server = try Self.serve(0, audioRate)
    }
    searchURL = server.address + "/search"
  }

  package func stop() { server.stop() }

  /// What is served, once the address is known, which it names.
  private struct Site {
    var address: String
    var contents: [String: ServedContent]
  }

  private static func serve(_ port: UInt16, _ audioRate: Int64) throws(PosixError) -> HTTPServer {
    let ready = Monitor<Site?>(nil)
    let server = try HTTPServer(port: port) { request, writer throws(ResponseWriter.Ended) in
      guard let site = ready.wait(until: .after(5), for: { $0 }) else { return }
      let path = request.path
      if path == "/search" { return try search(request, writer, site.address) }
      guard let content = site.contents[path] else {
        return try writer.respond(404, body: Array("not found\n".utf8))
      }
      try content.respond(to: request, writer)
    }
    let site = Site(address: server.address, contents: contents(at: server.address, audioRate))
    ready.withLockNotifying { $0 = site }
    return server
  }

  private static func contents(at address: String, _ audioRate: Int64) -> [String: ServedContent] {
    var contents: [String: ServedContent] = [:]
    func add(_ path: String, _ text: String, _ type: String) {
      contents[path] = ServedContent(Array(text.utf8), mediaType: type)
    }
    for podcast in DemoPodcast.all {
      add(podcast.feedPath, podcast.feed(at: address), "application/rss+xml; charset=utf-8")
      contents[podcast.coverPath] = DemoMedia.content(podcast.coverFile)
      for (number, episode) in zip(1..., podcast.episodes) {
        var audio = DemoMedia.content(podcast.audioFile(number))
        audio?.rate = audioRate
        contents[podcast.audioPath(number)] = audio
        if !episode.transcript.isEmpty {
          add(podcast.transcriptPath(number), podcast.transcript(number), "text/vtt; charset=utf-8")
        }
        if !episode.chapters.isEmpty {
          add(podcast.chaptersPath(number), podcast.chapters(number), "application/json+chapters")
        }
      }
    }
    for (path, content) in contents {
      var content = content
      content.etag = "\"\(UUIDv5.text(namespace: UUIDv5.url, name: content.read(0..<content.size)))\""
      contents[path] = content
    }
    return contents
  }

  /// The podcasts whose title or author has each word of the term, without regard to case; all for no words.
  private static func search(
    _ request: ServerRequest, _ writer: ResponseWriter, _ address: String
  ) throws(ResponseWriter.Ended) {
    let words = (request.query("term") ?? "").lowercased().split(whereSeparator: \.isWhitespace)
    let limit = max(Int(request.query("limit") ?? "") ?? 50, 0)
    let hits = DemoPodcast.all.filter { podcast in
      let text = "\(podcast.title) \(podcast.author)".lowercased()
      return words.allSatisfy { text.contains($0) }
    }.prefix(limit)
    let answer = JSONValue.object([
      ("resultCount", .integer(Int64(hits.count))), ("results", .array(hits.map { $0.result(at: address) })),
    ])
    let type = "text/javascript; charset=utf-8"
    try writer.respond(200, [("Content-Type", type)], body: Array(answer.indentedText.utf8))
  }
}
