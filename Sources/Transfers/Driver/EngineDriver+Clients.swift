internal import EpisodeCache
internal import PodcastModel
internal import PosixKit
internal import Synchronization
internal import TransferEngine
internal import TransferProtocol

/// A client of the daemon. Keys of what is untold are kept, not messages: one that never reads costs little.
final class Client {
  let socket: FrameSocket<ClientMessage>
  var hasGreeted = false
  var untold: Set<MediaKey> = []
  var answers: [DaemonMessage] = []

  fileprivate static let last = Atomic<UInt64>(0)
  /// Bytes of texts that are made ready at once, and then how many statuses or answers.
  fileprivate static let mostText = 64 << 10
  fileprivate static let mostAtOnce = 256

  fileprivate init(_ socket: FrameSocket<ClientMessage>) { self.socket = socket }
}

extension EngineDriver {
  func serve(_ socket: consuming FileDescriptor) {
    let id = ClientID(Client.last.wrappingAdd(1, ordering: .relaxed).newValue)
    let client = Client(
      FrameSocket(
        socket, loop: loop, receive: { [unowned self] in received($0, from: id) },
        ended: { [unowned self] in left(id) }))
    client.socket.refill = { [unowned self] in clients[id].map(frames) ?? [] }
    clients[id] = client
  }

  private func left(_ id: ClientID) { if clients.removeValue(forKey: id) != nil { post(.left(id)) } }

  func received(_ message: ClientMessage, from id: ClientID) {
    if case .hello(let version, let answers) = message {
      post(.joined(id, answersAddresses: answers))
      // A client says it again where it can tell fresh addresses from now on.
      if let client = clients[id], !client.hasGreeted { greet(client, id, version) }
    } else {
      post(.said(id, message))
    }
    report(.message)
  }

  private func greet(_ client: Client, _ id: ClientID, _ version: UInt32) {
    client.hasGreeted = true
    client.socket.send(
      DaemonMessage.welcome(version: Frames.version, cache: layout.cache, runtime: layout.runtime))
    if version > Frames.version {
      // It starts its own daemon, when this one has made room.
      log.write("a newer podcastfs asks: ending, so that its own transfer daemon can begin")
      return report(.newerClient)
    }
    // A mount of an older podcastfs knows by the welcome that it is not served.
    if version < Frames.version {
      client.socket.close()
      return left(id)
    }
    client.untold = Set(engine.keys)
    client.answers.append(.snapshotEnd)
    scheduleDrain()
  }

  /// What a client is to be told: how downloads are, then the answers, which follow from that; a little at a time.
  private func frames(for client: Client) -> [UInt8] {
    var statuses: [TransferStatus] = []
    var text = 0
    while statuses.count < Client.mostAtOnce, text < Client.mostText, let key = client.untold.popFirst() {
      guard let status = engine.status(of: key) else { continue }
      text += [status.url, status.title, status.show, status.fileName, status.error ?? ""]
        .reduce(0) { $0 + $1.utf8.count }
      statuses.append(status)
    }
    if !statuses.isEmpty { return DaemonMessage.changed(statuses, counts).frame }
    defer { client.answers.removeFirst(min(client.answers.count, Client.mostAtOnce)) }
    return client.answers.prefix(Client.mostAtOnce).flatMap(\.frame)
  }
}
