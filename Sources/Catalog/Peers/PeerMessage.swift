/// What one process sends another: a datagram of one line.
enum PeerMessage: Hashable, Sendable {
  /// There is a new commit: look at the log.
  case committed
  /// The socket of this name wants to hear when all commits up to this one have been seen.
  case ask(commit: Int64, socket: String)
  /// The peer with this socket has seen all commits up to this one.
  case seen(commit: Int64, socket: String)

  static let maximumBytes = 512
  private static let word = "podcastfs-catalog-2"

  /// - Returns: nil for what no version of this program sends.
  init?(_ bytes: some Sequence<UInt8>) {
    let words = String(decoding: Array(bytes), as: UTF8.self).split(separator: " ")
    guard words.first.map(String.init) == Self.word else { return nil }
    switch (words.dropFirst().first, words.count) {
    case ("committed", 2): self = .committed
    case ("ask", 4), ("seen", 4):
      // The name becomes a path in a directory of ours.
      guard let commit = Int64(words[2]), commit >= 0, !words[3].contains("/"), !words[3].hasPrefix(".")
      else {
        return nil
      }
      self =
        words[1] == "ask"
        ? .ask(commit: commit, socket: String(words[3])) : .seen(commit: commit, socket: String(words[3]))
    default: return nil
    }
  }

  var bytes: [UInt8] {
    let text =
      switch self {
      case .committed: "\(Self.word) committed"
      case .ask(let commit, let socket): "\(Self.word) ask \(commit) \(socket)"
      case .seen(let commit, let socket): "\(Self.word) seen \(commit) \(socket)"
      }
    return Array(text.utf8)
  }
}
