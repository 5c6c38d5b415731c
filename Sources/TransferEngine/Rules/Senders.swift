/// Which host sends what another one names: behind a tracker it is the sender that `per_host` counts.
struct Senders: Hashable {
  private var known: [String: String] = [:]

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
}
