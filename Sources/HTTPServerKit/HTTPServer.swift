internal import Glibc
package import PosixKit

/// A small HTTP/1.1 server on 127.0.0.1: GET and HEAD (POST and PUT where it is to take bodies), connections kept, a thread
/// for each.
package final class HTTPServer: Sendable {
  /// Answers a request by the writer, on the connection's thread; what it leaves unanswered gets 500.
  package typealias Handler = @Sendable (ServerRequest, ResponseWriter) throws(ResponseWriter.Ended) -> Void

  package let port: UInt16
  /// "http://127.0.0.1:PORT".
  package var address: String { "http://127.0.0.1:\(port)" }

  /// How many connections there have been.
  package var accepted: Int { state.withLock { $0.accepted } }

  private struct State: ~Copyable {
    var connections = 0
    var accepted = 0
    var isStopped = false
    var isListening = true
  }
  private let state = Monitor(State())
  private let stopped: WakeupEvent
  private let handler: Handler
  private let maximumConnections: Int
  private let longestBody: Int

  /// Listens and serves at once.
  /// - Parameters:
  ///   - port: 0 for one that the system chooses.
  ///   - maximumConnections: served at once; further ones wait.
  ///   - longestBody: of a request, in bytes; 0 for a server that only gives.
  package init(
    port: UInt16 = 0, maximumConnections: Int = 512, longestBody: Int = 0, handler: @escaping Handler
  ) throws(PosixError) {
    let listener = try LoopbackSocket.listen(port: port)
    self.port = try LoopbackSocket.port(of: listener.rawValue)
    self.handler = handler
    self.maximumConnections = maximumConnections
    self.longestBody = longestBody
    stopped = try WakeupEvent()
    let number = listener.release()
    PosixThread.start("http-accept") { [self] in
      accept(FileDescriptor(owning: number))
      state.withLockNotifying { $0.isListening = false }
    }
  }

  /// Closes the port and all connections; returns when nothing is served any more, at the latest after five
  /// seconds.
  package func stop() {
    state.withLockNotifying { $0.isStopped = true }
    stopped.signal()
    _ = state.wait(until: .after(5)) { $0.connections == 0 && !$0.isListening ? true : nil }
  }

  private func accept(_ listener: consuming FileDescriptor) {
    while true {
      let mayServe = state.wait { state in
        state.isStopped ? false : state.connections < maximumConnections ? true : nil
      }
      guard mayServe == true else { return }
      let readiness = Readiness.wait(
        for: .read, of: listener.rawValue, or: stopped, until: .distantFuture)
      guard readiness == .ready else { return }
      guard let socket = LoopbackSocket.accept(on: listener.rawValue) else {
        waitForDescriptors()
        continue
      }
      state.withLock {
        $0.connections += 1
        $0.accepted += 1
      }
      let number = socket.release()
      let isServed = PosixThread.attempt("http-serve", stackSize: 256 * 1024) { [self] in
        serve(FileDescriptor(owning: number))
        state.withLockNotifying { $0.connections -= 1 }
      }
      if !isServed {
        _ = FileDescriptor(owning: number)
        state.withLockNotifying { $0.connections -= 1 }
      }
    }
  }

  /// Where this process is out of descriptors, the listener stays readable: wait a little for some.
  private func waitForDescriptors() {
    guard Errno.current != .EAGAIN else { return }
    _ = state.wait(until: .after(0.05)) { $0.isStopped ? true : nil }
  }

  private func serve(_ socket: consuming FileDescriptor) {
    var reader = RequestReader(longestBody: longestBody)
    while true {
      switch reader.next(from: socket.rawValue, stop: stopped) {
      case .ended: return
      case .refused(let status): return refuse(socket.rawValue, status)
      case .request(let request):
        let writer = ResponseWriter(socket: socket.rawValue, stop: stopped, request: request)
        do throws(ResponseWriter.Ended) {
          try handler(request, writer)
          if !writer.hasHead { try writer.respond(500, body: []) }
        } catch {
          return
        }
        if !writer.finish() { return }
      }
    }
  }

  private func refuse(_ socket: Int32, _ status: Int) {
    let request = ServerRequest(
      method: "GET", target: "/", headers: [("connection", "close")], isHTTP11: true)
    let writer = ResponseWriter(socket: socket, stop: stopped, request: request)
    let allow = status == 405 ? [(name: "Allow", value: "GET, HEAD")] : []
    _ = try? writer.respond(status, allow, body: [])
  }
}
