package import Configuration
package import PodcastModel

/// A server to synchronize with, in its own protocol.
package struct SyncServer: Sendable {
  package let kind: SyncSettings.Kind
  private let requests: SyncRequests
  private let user: String
  private let device: String

  /// Actions in one upload: servers do more of them behind, or time out.
  private static let uploadSize = 50
  /// What mygpo answers at most.
  private static let pageSize = 1000
  /// Answers with actions that are read in one synchronization.
  private static let mostPages = 1000

  package init(kind: SyncSettings.Kind, requests: SyncRequests, user: String, device: String) {
    self.kind = kind
    self.requests = requests
    self.user = PercentEncoding.encode(user)
    self.device = device
  }

  /// Asks a server for its protocol: those of gPodder's API 2 know its login.
  package static func ask(_ requests: SyncRequests, user: String) throws(SyncError) -> SyncSettings.Kind {
    do throws(SyncError) {
      _ = try requests.ask(
        "/api/2/auth/\(PercentEncoding.encode(user))/login.json", text: "", type: "text/plain")
      return .gpodder
    } catch {
      guard error.kind == .missing else { throw error }
      _ = try requests.ask("\(nextcloud)/subscriptions?since=\(requests.clock.servers)")
      return .nextcloud
    }
  }

  private static let nextcloud = "/index.php/apps/gpoddersync"

  /// Whether it keeps the action `new`: Nextcloud drops all but `play`.
  package var hasNew: Bool { kind == .gpodder }
  /// What actions say of who reports them.
  package var deviceInActions: String? { kind == .gpodder ? device : nil }
  package var clock: SyncClock { requests.clock }

  /// Tells the server of this device.
  package func introduce() throws(SyncError) {
    guard kind == .gpodder else { return }
    _ = try requests.ask("/api/2/auth/\(user)/login.json", text: "", type: "text/plain")
    _ = try requests.ask(
      "/api/2/devices/\(user)/\(device).json",
      body: .object([("caption", .string(device)), ("type", "desktop")]))
  }

  private var subscriptions: String { "/api/2/subscriptions/\(user)/\(device).json" }

  package func subscriptions(since time: Int64) throws(SyncError) -> SubscriptionNews {
    let path = kind == .gpodder ? subscriptions : "\(Self.nextcloud)/subscriptions"
    let answer = try requests.ask("\(path)?since=\(time)")
    guard answer["add"] != nil || answer["remove"] != nil else {
      throw SyncError("the answer of \(requests.host) has no subscriptions")
    }
    let now = requests.clock.servers
    return SubscriptionNews(
      added: Self.addresses(answer["add"]), removed: Self.addresses(answer["remove"]),
      time: min(max(answer["timestamp"]?.wholeNumber ?? now, 0), now))
  }

  private static func addresses(_ list: JSONValue?) -> [WebAddress] {
    (list?.elements ?? []).prefix(SyncRequests.mostElements).compactMap { $0.text.map { WebAddress($0) } }
  }

  /// - Returns: the addresses that the server writes otherwise, by those that were sent; an empty one is refused.
  package func upload(add: [WebAddress], remove: [WebAddress]) throws(SyncError) -> [String: String] {
    let body = JSONValue.object([
      ("add", .strings(add.map(\.forRequest))), ("remove", .strings(remove.map(\.forRequest))),
    ])
    let path = kind == .gpodder ? subscriptions : "\(Self.nextcloud)/subscription_change/create"
    return Self.updatedAddresses(try requests.ask(path, body: body))
  }

  private static func updatedAddresses(_ answer: JSONValue) -> [String: String] {
    let pairs = (answer["update_urls"]?.elements ?? []).compactMap { pair -> (String, String)? in
      guard let old = pair.elements.first?.text, pair.elements.count == 2 else { return nil }
      return (old, pair.elements[1].text ?? "")
    }
    return Dictionary(pairs, uniquingKeysWith: { $1 })
  }

  package struct Actions: Sendable {
    package var reports: [EpisodeReport] = []
    /// To be asked with next, by the server's clock.
    package var time: Int64 = 0
    /// The server has no others since the time that it was asked with.
    package var isComplete = false
  }

  /// The actions since a time that say how far somebody is.
  package func actions(since start: Int64) throws(SyncError) -> Actions {
    var result = Actions()
    guard kind == .gpodder else {
      let actions = try actions(in: requests.ask("\(Self.nextcloud)/episode_action?since=\(start)"))
      result.isComplete = actions.count < SyncRequests.mostElements
      (result.reports, result.time) = (reports(actions), requests.clock.servers)
      return result
    }
    var seen: Set<String> = []
    var since = start
    var hasSkipped = false
    // mygpo answers at most a thousand, and then the time of the last one: it comes again with the next ones.
    for _ in 0..<Self.mostPages where seen.count < SyncRequests.mostElements && !result.isComplete {
      let answer = try requests.ask("/api/2/episodes/\(user).json?since=\(since)")
      let actions = try actions(in: answer)
      let new = actions.filter { seen.insert($0.compactText).inserted }
      result.reports += reports(new)
      let next = max(min(answer["timestamp"]?.wholeNumber ?? since, requests.clock.latest), since)
      if !new.isEmpty {
        (since, hasSkipped) = (next, false)
      } else if actions.count < Self.pageSize {
        result.isComplete = true
      } else if hasSkipped {
        // It answers the same whatever it is asked.
        break
      } else {
        // More than a page of one second: the rest of that second cannot be had.
        (since, hasSkipped) = (next + 1, true)
      }
    }
    result.time = requests.clock.servers
    return result
  }

  private func actions(in answer: JSONValue) throws(SyncError) -> [JSONValue] {
    guard let actions = answer["actions"] else {
      throw SyncError("the answer of \(requests.host) has no actions")
    }
    return Array(actions.elements.prefix(SyncRequests.mostElements))
  }

  private func reports(_ actions: [JSONValue]) -> [EpisodeReport] {
    let clock = requests.clock
    return actions.compactMap { action in
      var report = ServerAction(action, isOnlyOne: kind == .nextcloud)?.report
      if let time = report?.time, time != ServerAction.noTime { report?.time = clock.credible(time) }
      return report
    }
  }

  /// - Parameter sent: hears how many are at the server, after each part.
  package func upload(_ actions: [JSONValue], sent: (Int) throws -> Void) throws {
    let path =
      kind == .gpodder ? "/api/2/episodes/\(user).json" : "\(Self.nextcloud)/episode_action/create"
    for start in stride(from: 0, to: actions.count, by: Self.uploadSize) {
      let end = min(start + Self.uploadSize, actions.count)
      _ = try requests.ask(path, body: .array(Array(actions[start..<end])))
      try sent(end)
    }
  }
}
