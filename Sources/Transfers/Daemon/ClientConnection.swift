internal import Glibc
internal import PodcastModel
internal import PosixKit
internal import TransferEngine
internal import TransferProtocol

/// A client of the daemon. Belongs to the loop.
///
/// What an observer has not been told is kept as names, not as messages: who reads slowly, or never, costs little,
/// and is told how things stand when it reads again.
final class ClientConnection {
  let id: ClientID
  /// The number of the process at the other end.
  let process: Int32
  private let socket: FileDescriptor
  private let loop: EventLoop
  private var incoming = FrameBuffer()
  /// Frames on their way, and how much of them has gone.
  private var outgoing: [UInt8] = []
  private var sent = 0
  private var answers: [DaemonMessage] = []
  private var untold: Set<MediaKey> = []
  private var isClosed = false
  private(set) var hasGreeted = false
  /// Whether nothing that it says is heard.
  private var isLeftWaiting = false
  /// The protocol that it speaks.
  private var version = FrameWriter.version
  private(set) var observes = false
  private(set) var answersAddresses = false
  /// Whether it can be asked when it shows what it was told.
  var saysWhatItShows: Bool { observes && version >= 4 }
  /// What came, and that the other end has gone.
  private let receive: (ClientConnection, ClientMessage) -> Void
  private let ended: (ClientConnection) -> Void

  /// Bytes made ready for a client before it has taken what was.
  private static let mostReady = 256 << 10
  /// Answers that wait for a client; it is let go where it takes none of them: it asks again.
  private static let mostAnswers = 10_000

  init(
    _ id: ClientID, _ process: Int32, _ socket: consuming FileDescriptor, loop: EventLoop,
    receive: @escaping (ClientConnection, ClientMessage) -> Void, ended: @escaping (ClientConnection) -> Void
  ) {
    self.id = id
    self.process = process
    self.socket = socket
    self.loop = loop
    self.receive = receive
    self.ended = ended
    loop.watch(self.socket.rawValue, .readable) { [weak self] ready in self?.serve(ready) }
  }

  /// - Returns: whether it was the first time.
  func greet(version: UInt32, observes: Bool, answersAddresses: Bool) -> Bool {
    defer { hasGreeted = true }
    self.version = version
    self.observes = observes
    self.answersAddresses = answersAddresses
    return !hasGreeted
  }

  /// Hears and says no more, until the other end goes.
  func leaveWaiting() {
    isLeftWaiting = true
    observes = false
    answersAddresses = false
  }

  /// Sends `message`, behind what was to be told before; at the next `flush`.
  func send(_ message: DaemonMessage) {
    if isClosed || isLeftWaiting { return }
    // The version before ends the connection at a word that it does not know.
    if version < 3, case .refused = message { return }
    answers.append(message)
    if answers.count > Self.mostAnswers { close() }
  }

  /// It is to hear how these are.
  func tell(_ keys: [MediaKey]) { if !isClosed { untold.formUnion(keys) } }

  /// It is to hear of all, and that these were all.
  func tellAll(_ keys: [MediaKey]) {
    untold.formUnion(keys)
    answers.append(.snapshotEnd)
  }

  /// Sends what it takes.
  func flush(_ engine: Engine) {
    while !isClosed {
      if outgoing.count - sent < Self.mostReady { makeReady(engine) }
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

  /// Makes frames of what is to be told: first how downloads are, then the answers, which follow from that.
  private func makeReady(_ engine: Engine) {
    if !untold.isEmpty {
      var statuses: [TransferStatus] = []
      while statuses.count < 256, let key = untold.popFirst() {
        guard var status = engine.status(of: key) else { continue }
        if version < 4 { status.moment = 0 }
        statuses.append(status)
      }
      for frame in DaemonMessage.frames(of: statuses) { append(frame) }
      if !untold.isEmpty { return }
    }
    let count = min(answers.count, 1024)
    for message in answers.prefix(count) { append(message.frame) }
    answers.removeFirst(count)
  }

  private func append(_ frame: [UInt8]) {
    if sent > 0 {
      outgoing.removeFirst(sent)
      sent = 0
    }
    outgoing += frame
  }

  func close() {
    if isClosed { return }
    isClosed = true
    loop.unwatch(socket.rawValue)
    shutdown(socket.rawValue, Int32(SHUT_RDWR))
    ended(self)
  }

  /// Called when the socket takes more.
  var writable: (ClientConnection) -> Void = { _ in }

  private func serve(_ ready: EventLoop.Ready) {
    if ready.contains(.writable) { writable(self) }
    if !isClosed && !ready.isDisjoint(with: [.readable, .broken]) { read() }
  }

  /// The versions before see whole blocks only.
  private func asMeant(_ message: ClientMessage) -> ClientMessage {
    guard version < 5, case .wait(let id, let open, let offset, let count) = message, offset >= 0, count == 1
    else { return message }
    return .wait(id: id, open: open, offset: offset, count: Limits.block - offset % Limits.block)
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
          receive(self, asMeant(message))
        }
      } catch {
        return close()
      }
      if count < buffer.count { return }
    }
  }
}
