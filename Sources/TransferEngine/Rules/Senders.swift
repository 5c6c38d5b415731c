/// Which host sends what another one names: behind a tracker it is the sender that `per_host` counts. And
/// which hosts give parts of their files.
struct Senders: Hashable {
  private var known: [String: String] = [:]
  private var givesParts: [String: Bool] = [:]

  /// How many hosts it remembers anything of.
  var count: Int { known.count }

  /// The host that will probably send what `host` is asked for.
  func sender(behind host: String) -> String { known[host] ?? host }

  mutating func learn(_ sender: String, behind host: String) {
    if sender == host {
      known[host] = nil
    } else {
      if known.count >= Limits.hosts { known = [:] }
      known[host] = sender
    }
  }

  /// Whether `host` sends parts itself, and has never refused to send the end of a file.
  func givesParts(_ host: String) -> Bool { givesParts[host] ?? false }

  mutating func learn(_ host: String, givesParts gives: Bool) {
    if givesParts.count >= Limits.hosts { givesParts = [:] }
    givesParts[host] = gives && givesParts[host] ?? true
  }
}
