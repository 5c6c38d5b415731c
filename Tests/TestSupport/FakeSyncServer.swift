internal import HTTPServerKit
package import PodcastModel
internal import PosixKit

/// What servers to synchronize with make of what they are told: each with its own rules, as read in its code.
package struct SyncServerModel: Sendable {
  package enum Rules: String, Sendable, CaseIterable { case mygpo, opodsync, nextcloud }

  package struct Action: Sendable {
    package var podcast: String
    package var episode: String
    package var guid: String?
    package var action: String
    package var time: Int64
    /// Started, position, total.
    package var numbers: [Int64]?

    package init(
      podcast: String, episode: String, guid: String? = nil, action: String, time: Int64,
      numbers: [Int64]? = nil
    ) {
      (self.podcast, self.episode, self.guid) = (podcast, episode, guid)
      (self.action, self.time, self.numbers) = (action, time, numbers)
    }
  }

  package let rules: Rules
  /// The server's clock.
  package var now: Int64
  package var feeds: [String: (isFollowed: Bool, changed: Int64)] = [:]
  package var actions: [Action] = []
  /// mygpo's MAX_EPISODE_ACTIONS.
  package var pageSize = 1000
  /// Addresses that are written otherwise; empty for those that are refused.
  package var updates: [String: String] = [:]

  package init(_ rules: Rules, now: Int64) {
    self.rules = rules
    self.now = now
  }

  package var followed: Set<String> { Set(feeds.filter(\.value.isFollowed).keys) }

  package mutating func take(add: [String], remove: [String]) -> JSONValue {
    var updated: [JSONValue] = []
    for url in add {
      let stored = updates[url] ?? url
      if stored != url { updated.append(.strings([url, stored])) }
      if !stored.isEmpty { feeds[stored] = (true, now) }
    }
    for url in remove { feeds[url] = (false, now) }
    return .object([("timestamp", .integer(now)), ("update_urls", .array(updated))])
  }

  package func subscriptions(since: Int64) -> JSONValue {
    let news = feeds.filter { rules == .nextcloud ? $0.value.changed > since : $0.value.changed >= since }
      .sorted { $0.key < $1.key }
    return .object([
      ("add", .strings(news.filter(\.value.isFollowed).map(\.key))),
      ("remove", .strings(news.filter { !$0.value.isFollowed }.map(\.key))), ("timestamp", .integer(now)),
    ])
  }

  package mutating func take(actions new: [JSONValue]) -> JSONValue {
    for value in new {
      let numbers = ["started", "position", "total"].compactMap { value[$0]?.wholeNumber }
      let action = Action(
        podcast: value["podcast"]?.text ?? "", episode: value["episode"]?.text ?? "",
        guid: value["guid"]?.text,
        action: value["action"]?.text?.lowercased() ?? "",
        time: value["timestamp"]?.text.flatMap(DateText.seconds) ?? now,
        numbers: numbers.count == 3 ? numbers : nil)
      switch rules {
      case .mygpo: actions.append(action)
      case .opodsync:
        if feeds[action.podcast] == nil { feeds[action.podcast] = (true, now) }
        actions.append(action)
      case .nextcloud:
        // One row an episode, written over without comparing times; all but `play` is dropped.
        guard action.action == "play" else { continue }
        actions.removeAll { $0.episode == action.episode || $0.guid != nil && $0.guid == action.guid }
        actions.append(action)
      }
    }
    return .object([("timestamp", .integer(now)), ("update_urls", [])])
  }

  package func actions(since: Int64) -> JSONValue {
    var found = actions.filter { rules == .nextcloud ? $0.time > since : $0.time >= since }
    var time = now
    if rules == .mygpo {
      found.sort { $0.time < $1.time }
      if found.count > pageSize {
        found = Array(found.prefix(pageSize))
        time = found.last?.time ?? now
      }
    }
    return .object([("actions", .array(found.map(json))), ("timestamp", .integer(time))])
  }

  private func json(_ action: Action) -> JSONValue {
    let stamp = CivilTime.iso8601(action.time)
    let plain = String(stamp.dropLast())
    let time: String =
      switch rules {
      case .mygpo: plain
      case .opodsync: stamp
      case .nextcloud: plain + "+00:00"
      }
    var members: [(String, JSONValue)] = [
      ("podcast", .string(action.podcast)), ("episode", .string(action.episode)),
      ("guid", action.guid.json),
      ("action", .string(rules == .nextcloud ? action.action.uppercased() : action.action)),
      ("timestamp", .string(time)),
    ]
    if let numbers = action.numbers ?? (rules == .nextcloud ? [-1, -1, -1] : nil) {
      members += zip(["started", "position", "total"], numbers.map(JSONValue.integer))
    }
    return .object(members)
  }
}

/// A server to synchronize with on loopback, with the rules of one of those that people run.
package final class FakeSyncServer: Sendable {
  package static let user = "ann"
  package static let password = "p:ä%/ word"

  private struct State: Sendable {
    var model: SyncServerModel
    var requests: [String] = []
    var bodies: [String] = []
    var failure: (status: Int, headers: [(name: String, value: String)])?
    var devices: Set<String> = []
    /// Of the login flow: the password that it gives, once the user has logged in.
    var appPassword: String?
  }

  private let state: Monitor<State>
  private let server: HTTPServer

  package var address: String { server.address }

  /// - Parameter now: the server's clock; nil for the true time.
  package init(_ rules: SyncServerModel.Rules, now: Int64? = nil) throws {
    let state = Monitor(State(model: SyncServerModel(rules, now: now ?? wallClockSeconds())))
    self.state = state
    server = try HTTPServer(longestBody: 1 << 24) { request, writer throws(ResponseWriter.Ended) in
      let (status, headers, body) = state.withLock { Self.answer(request, &$0) }
      let text = body.map { Array($0.compactText.utf8) } ?? []
      try writer.respond(status, headers + [("Content-Type", "application/json")], body: text)
    }
  }

  deinit { server.stop() }

  package func stop() { server.stop() }

  package var model: SyncServerModel { state.withLock { $0.model } }
  /// "GET /path?query", in their order.
  package var requests: [String] { state.withLock { $0.requests } }
  package var bodies: [String] { state.withLock { $0.bodies } }
  package var devices: Set<String> { state.withLock { $0.devices } }

  package func change(_ body: (inout SyncServerModel) -> Void) { state.withLock { body(&$0.model) } }
  package func forgetRequests() { state.withLock { ($0.requests, $0.bodies) = ([], []) } }
  package func logIn(_ password: String = FakeSyncServer.password) {
    state.withLock { $0.appPassword = password }
  }

  /// Answers everything with this status from now on; nil for well again.
  package func fail(_ status: Int?, _ headers: [(name: String, value: String)] = []) {
    state.withLock { $0.failure = status.map { ($0, headers) } }
  }

  private typealias Reply = (Int, [(name: String, value: String)], JSONValue?)

  private static func answer(_ request: ServerRequest, _ state: inout State) -> Reply {
    state.requests.append("\(request.method) \(request.target)")
    if !request.body.isEmpty { state.bodies.append(String(decoding: request.body, as: UTF8.self)) }
    let date = [(name: "Date", value: CivilTime.http(state.model.now))]
    if let failure = state.failure { return (failure.status, date + failure.headers, nil) }
    let isNextcloud = state.model.rules == .nextcloud
    if isNextcloud, request.path.hasPrefix("/index.php/login/v2") { return login(request, state) }
    guard request.header("authorization") == authorization else {
      return (401, date + [("WWW-Authenticate", "Basic realm=\"x\"")], nil)
    }
    let path = request.path
    let since = request.query("since").flatMap { Int64($0) } ?? 0
    let body = try? JSONValue(parsing: request.body)
    let isPost = request.method == "POST"
    let reply: JSONValue?
    if isNextcloud {
      let apps = "/index.php/apps/gpoddersync/"
      guard path.hasPrefix(apps) else { return (404, date, nil) }
      switch path.dropFirst(apps.count) {
      case "subscriptions": reply = state.model.subscriptions(since: since)
      case "subscription_change/create" where isPost: reply = change(body, &state)
      case "episode_action": reply = state.model.actions(since: since)
      case "episode_action/create" where isPost: reply = state.model.take(actions: body?.elements ?? [])
      default: return (404, date, nil)
      }
      return (200, date, reply)
    }
    switch path {
    case "/api/2/auth/\(user)/login.json" where isPost: reply = nil
    case "/api/2/episodes/\(user).json":
      reply = isPost ? state.model.take(actions: body?.elements ?? []) : state.model.actions(since: since)
    case _ where path.hasPrefix("/api/2/devices/\(user)/") && isPost:
      state.devices.insert(path.dropFirst("/api/2/devices/\(user)/".count).prefix { $0 != "." }.description)
      reply = nil
    case _ where path.hasPrefix("/api/2/subscriptions/\(user)/"):
      reply = isPost ? change(body, &state) : state.model.subscriptions(since: since)
    default: return (404, date, nil)
    }
    return (200, date, reply)
  }

  private static func change(_ body: JSONValue?, _ state: inout State) -> JSONValue {
    state.model.take(
      add: (body?["add"]?.elements ?? []).compactMap(\.text),
      remove: (body?["remove"]?.elements ?? []).compactMap(\.text))
  }

  private static func login(_ request: ServerRequest, _ state: State) -> Reply {
    let place = "http://\(request.header("host") ?? "")"
    if request.path == "/index.php/login/v2" {
      return (
        200, [],
        .object([
          ("poll", .object([("token", "t0ken"), ("endpoint", .string("\(place)/index.php/login/v2/poll"))])),
          ("login", .string("\(place)/index.php/login/v2/flow/abc")),
        ])
      )
    }
    guard let appPassword = state.appPassword, String(decoding: request.body, as: UTF8.self) == "token=t0ken"
    else {
      return (404, [], nil)
    }
    return (
      200, [],
      .object([
        ("server", .string(place)), ("loginName", .string(user)), ("appPassword", .string(appPassword)),
      ])
    )
  }

  private static let authorization = "Basic " + base64("\(user):\(password)")

  private static func base64(_ text: String) -> String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var result = ""
    let bytes = Array(text.utf8)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let value = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
      for place in 0...group.count { result.append(digits[value >> (18 - 6 * place) & 63]) }
      result += String(repeating: "=", count: 3 - group.count)
    }
    return result
  }
}
