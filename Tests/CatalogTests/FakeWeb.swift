import HTTPServerKit
import PosixKit
import TestSupport

/// A directory service and feeds on loopback. What is at each path may change at any time; what was asked for
/// is kept.
final class FakeWeb: Sendable {
  struct Page: Sendable {
    var status = 200
    var headers: [(name: String, value: String)] = []
    var body: [UInt8] = []
    /// Seconds before the answer.
    var delay = 0.0
    /// Bytes of the body after which the connection is cut.
    var cut: Int?

    init(status: Int = 200, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
      self.status = status
      self.headers = headers
      self.body = body
    }

    init(_ text: String, headers: [(name: String, value: String)] = []) {
      self.init(headers: headers, body: Array(text.utf8))
    }
  }

  private struct State: ~Copyable {
    var pages: [String: @Sendable (ServerRequest) -> Page] = [:]
    var requests: [ServerRequest] = []
  }

  private let state: Monitor<State>
  private let server: HTTPServer

  var address: String { server.address }
  var port: UInt16 { server.port }

  init() throws {
    let state = Monitor(State())
    self.state = state
    server = try HTTPServer { request, writer throws(ResponseWriter.Ended) in
      let make = state.withLockNotifying { state in
        state.requests.append(request)
        return state.pages[request.path]
      }
      let page = make?(request) ?? Page(status: 404)
      if page.delay > 0 { try writer.pause(page.delay) }
      if let cut = page.cut {
        try writer.begin(page.status, page.headers, length: Int64(page.body.count))
        try writer.write(page.body.prefix(cut))
        throw writer.cut()
      }
      try writer.respond(page.status, page.headers, body: page.body)
    }
  }

  deinit { server.stop() }

  func stop() { server.stop() }

  func set(_ path: String, _ page: Page) { set(path) { _ in page } }

  func set(_ path: String, _ make: @escaping @Sendable (ServerRequest) -> Page) {
    state.withLock { $0.pages[path] = make }
  }

  /// What was asked for at a path so far.
  func requests(_ path: String) -> [ServerRequest] {
    state.withLock { $0.requests.filter { $0.path == path } }
  }

  /// How often anything was asked for so far.
  var requestCount: Int { state.withLock { $0.requests.count } }

  /// Waits until a path was asked for so many times.
  func wait(_ path: String, count: Int, seconds: Double = patience) -> Bool {
    state.wait(until: .after(seconds)) { state in
      state.requests.filter { $0.path == path }.count >= count ? true : nil
    } ?? false
  }

  /// An answer in Apple's format that names these feeds: title and address or path.
  func answer(_ feeds: [(title: String, path: String)]) -> Page {
    let results = feeds.map { feed in
      """
      {"kind":"podcast","collectionName":"\(feed.title)","artistName":"Someone",
       "feedUrl":"\(feed.path.hasPrefix("/") ? address + feed.path : feed.path)",
       "artworkUrl600":"\(address)/art.jpg","genres":["News"]}
      """
    }
    return Page("{\"resultCount\":\(feeds.count),\"results\":[\(results.joined(separator: ","))]}")
  }
}
