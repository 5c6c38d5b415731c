package import PodcastModel
package import PosixKit
package import TransferEngine
package import TransferProtocol

/// A client of the daemon. Belongs to the loop.
///
/// What an observer has not been told is kept as keys, not as messages: a client that reads slowly, or never, costs
/// little, and hears how things stand when it reads again.
package final class ClientConnection {
  package let id: ClientID
  private let socket: FrameSocket<ClientMessage>
  private var answers: [DaemonMessage] = []
  private var untold: Set<MediaKey> = []
  private let status: (MediaKey) -> TransferStatus?
  private let counts: () -> HTTPCounts
  private let ended: (ClientConnection) -> Void
  package private(set) var hasGreeted = false

  /// Bytes of texts that are made ready at once, and then how many statuses or answers.
  private static let mostText = 64 << 10
  private static let mostAtOnce = 256

  package init(
    _ id: ClientID, _ socket: consuming FileDescriptor, loop: EventLoop,
    status: @escaping (MediaKey) -> TransferStatus?, counts: @escaping () -> HTTPCounts,
    receive: @escaping (ClientConnection, ClientMessage) -> Void, ended: @escaping (ClientConnection) -> Void
  ) {
    self.id = id
    self.status = status
    self.counts = counts
    self.ended = ended
    weak var this: ClientConnection?
    self.socket = FrameSocket(
      socket, loop: loop,
      receive: { message in if let this { receive(this, message) } },
      ended: { if let this { ended(this) } })
    this = self
    self.socket.refill = { [weak self] in self?.makeReady() ?? [] }
  }

  package var isClosed: Bool { socket.isClosed }
  /// Bytes made ready that it has not taken.
  package var ready: Int { socket.ready }

  /// - Returns: whether it was the first time.
  package func greet() -> Bool {
    defer { hasGreeted = true }
    return !hasGreeted
  }

  /// Sends `message`, behind what was to be told before; at the next `flush`.
  package func send(_ message: DaemonMessage) {
    if !isClosed { answers.append(message) }
  }

  package func tell(_ keys: [MediaKey]) { if hasGreeted && !isClosed { untold.formUnion(keys) } }

  package func tellAll(_ keys: [MediaKey]) {
    untold.formUnion(keys)
    answers.append(.snapshotEnd)
  }

  package func flush() { socket.flush() }

  package func close() {
    if isClosed { return }
    socket.close()
    ended(self)
  }

  /// Frames of what is to be told: first how downloads are, then the answers, which follow from that. A little at a
  /// time, however long the texts are: no frame is longer than `Frames.longest`.
  private func makeReady() -> [UInt8] {
    var statuses: [TransferStatus] = []
    var text = 0
    while statuses.count < Self.mostAtOnce, text < Self.mostText, let key = untold.popFirst() {
      guard let status = self.status(key) else { continue }
      text += [status.url, status.title, status.show, status.fileName, status.error ?? ""]
        .reduce(0) { $0 + $1.utf8.count }
      statuses.append(status)
    }
    if !statuses.isEmpty { return DaemonMessage.changed(statuses, counts()).frame }
    defer { answers.removeFirst(min(answers.count, Self.mostAtOnce)) }
    return answers.prefix(Self.mostAtOnce).flatMap(\.frame)
  }
}
