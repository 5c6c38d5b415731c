internal import PodcastModel

/// Nextcloud's login flow, version 2: the user logs in by a browser, and this program gets a password of its own
/// (https://docs.nextcloud.com/server/latest/developer_manual/client_apis/LoginFlow/).
package struct LoginFlow: Sendable {
  /// For the browser.
  package let page: String
  private let endpoint: String
  private let token: String
  private let requests: SyncRequests

  package struct Credentials: Sendable {
    package var user: String
    package var password: String
  }

  package init(_ requests: SyncRequests) throws(SyncError) {
    let answer = try requests.ask("/index.php/login/v2", text: "", type: "application/x-www-form-urlencoded")
    guard let page = answer["login"]?.text, let token = answer["poll"]?["token"]?.text,
      let endpoint = answer["poll"]?["endpoint"]?.text, WebAddress(page).isWeb, WebAddress(endpoint).isWeb
    else { throw SyncError("the answer of \(requests.host) is none of Nextcloud's login") }
    // The token brings the password: it goes to no other host, and not without encryption where the user asked for it.
    guard requests.isAsSafe(WebAddress(endpoint)) else {
      throw SyncError("\(requests.host) sends the login elsewhere: to \(WebAddress(endpoint).shown)")
    }
    self.page = page
    self.token = token
    self.endpoint = endpoint
    self.requests = requests
  }

  /// Asks whether the user has logged in.
  /// - Returns: nil where not yet.
  package func poll() throws(SyncError) -> Credentials? {
    let answer: JSONValue
    do {
      answer = try requests.ask(
        endpoint, text: "token=\(PercentEncoding.encode(token))", type: "application/x-www-form-urlencoded")
    } catch {
      if error.kind == .missing { return nil }
      throw error
    }
    guard let user = answer["loginName"]?.text, let password = answer["appPassword"]?.text else {
      throw SyncError("the answer of \(requests.host) has no password")
    }
    // They go into the configuration file. A line break would begin another line there.
    guard
      [user, password].allSatisfy({ !$0.isEmpty && $0.utf8.count <= 1000 && PrintableText.line($0) == $0 })
    else { throw SyncError("the answer of \(requests.host) has a name or password that cannot be one") }
    return Credentials(user: user, password: password)
  }
}
