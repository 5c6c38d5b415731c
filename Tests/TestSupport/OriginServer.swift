package import HTTPServerKit
internal import PosixKit

/// A host of episodes, feeds and covers on loopback, with the faults of real hosts as switches for each
/// path, and a log of what it was asked.
package final class OriginServer: Sendable {
  private struct State {
    var resources: [String: OriginResource] = [:]
    var handlers: [String: HTTPServer.Handler] = [:]
    var log = OriginLog()
  }

  private let state: Monitor<State>
  private let server: HTTPServer

  package init(port: UInt16 = 0) throws {
    let state = Monitor(State())
    self.state = state
    server = try HTTPServer(port: port) { request, writer throws(ResponseWriter.Ended) in
      try Self.answer(request, writer, state)
    }
  }

  deinit { server.stop() }

  package func stop() { server.stop() }

  /// "http://127.0.0.1:PORT".
  package var address: String { server.address }
  package var port: UInt16 { server.port }
  /// How many connections it has had.
  package var connections: Int { server.accepted }

  /// The address of a path.
  package func url(_ path: String) -> String { server.address + path }

  /// Puts a resource under a path, in place of what was there.
  /// - Returns: its address.
  @discardableResult
  package func serve(_ path: String, _ resource: OriginResource) -> String {
    state.withLock { $0.resources[path] = resource }
    return url(path)
  }

  /// Answers a path by code.
  @discardableResult
  package func handle(_ path: String, _ handler: @escaping HTTPServer.Handler) -> String {
    state.withLock { $0.handlers[path] = handler }
    return url(path)
  }

  /// Changes what is under a path, for requests from now on.
  package func change(_ path: String, _ change: (inout OriginResource) -> Void) {
    state.withLock { state in
      if var resource = state.resources[path] {
        change(&resource)
        state.resources[path] = resource
      }
    }
  }

  /// Takes a path away: 404.
  package func remove(_ path: String) {
    state.withLock { state in
      state.resources[path] = nil
      state.handlers[path] = nil
    }
  }

  private static func answer(
    _ request: ServerRequest, _ writer: ResponseWriter, _ state: Monitor<State>
  ) throws(ResponseWriter.Ended) {
    let path = request.path
    let (number, handler, resource, behaviour) = state.withLockNotifying { state in
      let number = state.log.begin(
        OriginRequest(path: path, target: request.target, headers: request.headers))
      // A step of the plan is one request of the client, not each hop of it.
      let isHop = request.query("hop") != nil
      var behaviour = state.resources[path]?.behaviour ?? OriginBehaviour()
      if !isHop, var resource = state.resources[path], !resource.plan.isEmpty {
        behaviour = resource.plan.removeFirst()
        state.resources[path] = resource
      }
      return (number, state.handlers[path], state.resources[path], behaviour)
    }
    defer { state.withLockNotifying { $0.log.active -= 1 } }
    writer.onSent = { count in
      state.withLockNotifying { $0.log.requests[number].sent += Int64(count) }
    }
    writer.onBegin = { status in state.withLockNotifying { $0.log.requests[number].status = status } }
    if let handler { return try handler(request, writer) }
    guard let resource else { return try writer.respond(404, body: Array("not found".utf8)) }
    try OriginAnswer(request: request, resource: resource, behaviour: behaviour, number: number).send(writer)
  }
}

// What it was asked.
extension OriginServer {
  /// All requests in their order.
  package var requests: [OriginRequest] { state.withLock { $0.log.requests } }

  /// The requests for a path, redirects' hops among them.
  package func requests(_ path: String) -> [OriginRequest] { requests.filter { $0.path == path } }

  /// Bytes of bodies that were sent for a path.
  package func sent(_ path: String) -> Int64 { requests(path).reduce(0) { $0 + $1.sent } }

  /// Requests being answered now, and the most at any time.
  package var active: Int { state.withLock { $0.log.active } }
  package var peak: Int { state.withLock { $0.log.peak } }

  /// Waits until the log satisfies a condition; false after `seconds`.
  package func wait(seconds: Double = patience, until condition: @escaping ([OriginRequest]) -> Bool) -> Bool
  {
    state.wait(until: .after(seconds)) { condition($0.log.requests) ? true : nil } ?? false
  }

  /// Waits until nothing is being answered; false after `seconds`.
  package func waitUntilIdle(seconds: Double = patience) -> Bool {
    state.wait(until: .after(seconds)) { $0.log.active == 0 ? true : nil } ?? false
  }
}
