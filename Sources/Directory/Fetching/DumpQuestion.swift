package import HTTPKit
internal import PodcastModel
internal import PosixKit

/// Asks a server which dump it has, by a request for the first bytes.
package struct DumpQuestion {
  /// Podcast Index's own dump.
  package static let usualAddress = "https://public.podcastindex.org/podcastindex_feeds.db.tgz"

  /// The environment's variable that has another address for a program that a mount starts.
  package static let addressVariable = "PODCASTFS_DIRECTORY_URL"

  /// Bytes that tell a dump from a web page.
  private static let head = 512

  /// - Parameters:
  ///   - request: for the whole dump.
  ///   - installed: see `DirectoryFacts.identity`.
  /// - Returns: what the server has; nil where that is installed.
  /// - Throws: `HTTPError`; `DirectoryError` where the server refuses, or has something else there.
  package static func ask(
    _ request: HTTPRequest, installed: String?, _ client: HTTPClient
  ) throws -> DumpIdentity? {
    let url = request.url
    let installed = installed.flatMap { DumpIdentity(text: $0) }.flatMap {
      $0.url == WebAddress(url).shown ? $0 : nil
    }
    var request = request
    request.headers.append(("Range", "bytes=0-\(head - 1)"))
    if let tag = installed?.entityTag {
      request.headers.append(("If-None-Match", tag))
    } else if let date = installed?.lastModified {
      request.headers.append(("If-Modified-Since", date))
    }
    let beginning = Beginning(head)
    client.start(request, receiver: beginning)
    let (answer, bytes) = try beginning.wait()
    if answer.status == 304 { return nil }
    guard answer.status == 200 || answer.status == 206 else {
      throw refusal(answer.status, bytes, by: WebAddress(url).host ?? "the server")
    }
    _ = try bytes.withUnsafeBytes { try DumpUnpacker.isCompressed($0) }
    let identity = DumpIdentity(
      url: url,
      Representation(
        total: answer.status == 206 ? answer.contentRange?.total : answer.contentLength,
        entityTag: answer.value("etag").flatMap { $0.hasPrefix("\"") ? $0 : nil },
        lastModified: answer.value("last-modified")))
    // Simple servers know no conditions.
    return identity == installed && identity.isCertain ? nil : identity
  }

  /// What a person can do about an answer that is no dump.
  private static func refusal(_ status: Int, _ body: [UInt8], by host: String) -> DirectoryError {
    let words = PrintableText.line(String(decoding: body.prefix(200), as: UTF8.self))
    let isText = !words.isEmpty && !words.hasPrefix("<")
    switch status {
    case 403:
      return DirectoryError(
        .EACCES,
        "HTTP 403 from \(host): it refuses what this program is called (user_agent)"
          + (isText ? ": \(words)" : ""))
    case 404, 410:
      return DirectoryError(.ENOENT, "HTTP \(status) from \(host): no dump is there (directory_url)")
    case 429, 500...599: return DirectoryError(.EAGAIN, "HTTP \(status) from \(host): try again later")
    default: return DirectoryError(.EIO, "HTTP \(status) from \(host)" + (isText ? ": \(words)" : ""))
    }
  }
}

/// Keeps an answer's first bytes, and ends it there.
private final class Beginning: HTTPResponseReceiver {
  private struct State {
    var head: HTTPResponseHead?
    var bytes: [UInt8] = []
    var end: Result<Void, HTTPError>?
  }
  private let count: Int
  private let state = Monitor(State())

  init(_ count: Int) { self.count = count }

  func wait() throws -> (HTTPResponseHead, [UInt8]) {
    let (state, end) =
      state.wait { state in state.end.map { (state, $0) } } ?? (State(), .failure(.cancelled))
    if state.bytes.count < count { try end.get() }
    guard let head = state.head else { throw HTTPError.cancelled }
    return (head, state.bytes)
  }

  func received(head: HTTPResponseHead) -> HTTPFlow {
    state.withLock { $0.head = head }
    return .proceed
  }

  func received(body: UnsafeRawBufferPointer) -> HTTPFlow {
    state.withLock { state in
      state.bytes += body.prefix(count - state.bytes.count)
      return state.bytes.count < count ? .proceed : .abort
    }
  }

  func finished(_ error: HTTPError?) {
    state.withLockNotifying { $0.end = error.map { .failure($0) } ?? .success(()) }
  }
}
