internal import Glibc
package import PodcastModel
package import PosixKit
package import TransferEngine
package import TransferProtocol

/// A client of the daemon. Belongs to the loop.
///
/// What an observer has not been told is kept as names, not as messages: who reads slowly, or never, costs little,
/// and is told how things stand when it reads again.
package final class ClientConnection {
  package let id: ClientID
  private let socket: FileDescriptor
  private let loop: EventLoop
  private var incoming = FrameBuffer()
  /// Frames on their way, and how much of them has gone.
  private var outgoing: [UInt8] = []
  private var sent = 0
  private var answers: [DaemonMessage] = []
  private var untold: Set<MediaKey> = []
  package private(set) var isClosed = false
  package private(set) var hasGreeted = false
  /// Whether nothing that it says is heard.
  private var isLeftWaiting = false
  package private(set) var observes = false
  /// What came, and that the other end has gone.
  private let receive: (ClientConnection, ClientMessage) -> Void
  private let ended: (ClientConnection) -> Void

  /// Bytes made ready for a client before it has taken what was.
  package static let mostReady = 256 << 10
  /// Bytes of texts that are made ready at once, and then how many of what has none.
  private static let mostText = 64 << 10
  private static let mostAtOnce = 256
  /// Answers that wait for a client; it is let go where it takes none of them: it asks again.
  private static let mostAnswers = 10_000

  package init(
    _ id: ClientID, _ socket: consuming FileDescriptor, loop: EventLoop,
    receive: @escaping (ClientConnection, ClientMessage) -> Void, ended: @escaping (ClientConnection) -> Void
  ) {
    self.id = id
    self.socket = socket
    self.loop = loop
    self.receive = receive
    self.ended = ended
    loop.watch(self.socket.rawValue, .readable) { [weak self] ready in self?.serve(ready) }
  }

  /// - Returns: whether it was the first time.
  package func greet(observes: Bool) -> Bool {
    defer { hasGreeted = true }
    self.observes = observes
    return !hasGreeted
  }

  /// Hears and says no more, until the other end goes.
  package func leaveWaiting() {
    isLeftWaiting = true
    observes = false
  }

  /// Sends `message`, behind what was to be told before; at the next `flush`.
  package func send(_ message: DaemonMessage) {
    if isClosed || isLeftWaiting { return }
    answers.append(message)
    if answers.count > Self.mostAnswers { close() }
  }

  /// It is to hear how these are.
  package func tell(_ keys: [MediaKey]) { if !isClosed { untold.formUnion(keys) } }

  /// It is to hear of all, and that these were all.
  package func tellAll(_ keys: [MediaKey]) {
    untold.formUnion(keys)
    answers.append(.snapshotEnd)
  }

  /// Sends what it takes.
  package func flush(_ engine: TransferCore) {
    while !isClosed {
      if ready < Self.mostReady { makeReady(engine) }
      if outgoing.isEmpty { break }
      let count = outgoing.withUnsafeBytes { bytes in
        Glibc.send(
          socket.rawValue, bytes.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      if count < 0 && Errno.current == .EINTR { continue }
      if count < 0 && Errno.current == .EAGAIN { break }
      if count < 0 { return close() }
      sent += count
      if sent == outgoing.count {
        outgoing = []
        sent = 0
      }
    }
    if !isClosed {
      loop.setInterest(socket.rawValue, outgoing.isEmpty ? .readable : [.readable, .writable])
    }
  }

  /// Bytes made ready that it has not taken.
  package var ready: Int { outgoing.count - sent }

  /// Makes frames of what is to be told: first how downloads are, then the answers, which follow from that. A little at
  /// a time, however long its texts are.
  private func makeReady(_ engine: TransferCore) {
    if !untold.isEmpty {
      var statuses: [TransferStatus] = []
      var text = 0
      while statuses.count < Self.mostAtOnce, text < Self.mostText, let key = untold.popFirst() {
        guard let status = engine.status(of: key) else { continue }
        text += status.textLength
        statuses.append(status)
      }
      for frame in DaemonMessage.frames(of: statuses) { append(frame) }
      if !untold.isEmpty { return }
    }
    var count = 0
    while count < min(answers.count, Self.mostAtOnce), ready < Self.mostReady {
      append(answers[count].frame)
      count += 1
    }
    answers.removeFirst(count)
  }

  private func append(_ frame: [UInt8]) {
    if sent > 0 {
      outgoing.removeFirst(sent)
      sent = 0
    }
    outgoing += frame
  }

  package func close() {
    if isClosed { return }
    isClosed = true
    loop.unwatch(socket.rawValue)
    shutdown(socket.rawValue, Int32(SHUT_RDWR))
    ended(self)
  }

  /// Called when the socket takes more.
  package var writable: (ClientConnection) -> Void = { _ in }

  private func serve(_ ready: EventLoop.Ready) {
    if ready.contains(.writable) { writable(self) }
    if !isClosed && !ready.isDisjoint(with: [.readable, .broken]) { read() }
  }

  private func read() {
    var buffer = [UInt8](repeating: 0, count: 65536)
    while !isClosed {
      let count = recv(socket.rawValue, &buffer, buffer.count, 0)
      if count < 0 && Errno.current == .EINTR { continue }
      if count < 0 && Errno.current == .EAGAIN { return }
      if count <= 0 { return close() }
      if isLeftWaiting { continue }
      incoming.append(buffer[..<count])
      do throws(FrameError) {
        while !isClosed, !isLeftWaiting, let message: ClientMessage = try incoming.next() {
          receive(self, message)
        }
      } catch {
        return close()
      }
      if count < buffer.count { return }
    }
  }
}

extension TransferStatus {
  /// Bytes of its texts.
  fileprivate var textLength: Int {
    [url, title, show, fileName, error ?? ""].reduce(0) { $0 + $1.utf8.count }
  }
}
