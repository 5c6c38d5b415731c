/// Rules as attributes of a subscription's folder and as keys of the configuration: both have the same names and values.
extension SubscriptionRules {
  package enum Key: String, CaseIterable, Hashable, Sendable {
    case autoDownload = "auto_download"
    case autoOrder = "auto_order"
    case include, exclude
    case minDuration = "min_duration"
    case maxDuration = "max_duration"
    case kinds
    case afterPlayed = "after_played"
    case notify

    /// What help shows in place of a value.
    package var placeholder: String {
      switch self {
      case .autoDownload: "N|Nd|all"
      case .autoOrder: "newest|next"
      case .include, .exclude: "WORDS"
      case .minDuration, .maxDuration: "LENGTH"
      case .kinds: "KINDS"
      case .afterPlayed: "keep|drop|drop:Nd"
      case .notify: "0|1"
      }
    }

    /// What the rule is for, for help.
    package var purpose: String {
      switch self {
      case .autoDownload:
        "what is downloaded automatically: the newest N episodes, those of N days, or all; 0: none"
      case .autoOrder: "next: N counts from the episode that you played last, for serials"
      case .include: "only episodes with one of these words or \"phrases\" in the title"
      case .exclude: "no episode with one of these words or \"phrases\" in the title"
      case .minDuration: "leaves out episodes that are shorter, like 10m; an unknown length passes"
      case .maxDuration: "leaves out episodes that are longer, like 1h; an unknown length passes"
      case .kinds: "only episodes of these kinds: full, trailer, bonus"
      case .afterPlayed: "drop: played episodes lose their download; drop:2d: two days later"
      case .notify: "1: the desktop announces new episodes; 0: it announces no downloads either"
      }
    }

    /// The form of its values, for messages.
    package var form: String {
      switch self {
      case .autoDownload: "0, a number of episodes, an age like 14d, or all"
      case .autoOrder: "newest or next"
      case .include, .exclude: "words and \"phrases\" of titles"
      case .minDuration, .maxDuration: "a length like 10m"
      case .kinds: "some of full, trailer, bonus"
      case .afterPlayed: "keep, drop, or drop:2d"
      case .notify: "0 or 1"
      }
    }
  }

  package struct Malformed: Error, Hashable, Sendable, CustomStringConvertible {
    package var key: Key
    package var value: String
    package var description: String { "\(key.rawValue): \"\(value)\" is not \(key.form)" }
  }

  /// Sets a rule; an empty value removes it.
  /// - Throws: `Malformed`; nothing has changed then.
  package mutating func set(_ key: Key, to text: String) throws(Malformed) {
    let value = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    func known<Value>(_ read: (String) -> Value?) throws(Malformed) -> Value? {
      if value.isEmpty { return nil }
      guard let found = read(value) else { throw Malformed(key: key, value: text) }
      return found
    }
    switch key {
    case .autoDownload: autoDownload = try known(Amount.init(text:))
    case .autoOrder: autoOrder = try known(Order.init(rawValue:))
    case .include: include = try known(Self.phrases)
    case .exclude: exclude = try known(Self.phrases)
    case .minDuration: minDuration = try known(DurationText.seconds)
    case .maxDuration: maxDuration = try known(DurationText.seconds)
    case .kinds: kinds = try known(Self.kinds)
    case .afterPlayed: afterPlayed = try known(AfterPlayed.init(text:))
    case .notify: notify = try known { ["0": false, "1": true][$0] }
    }
  }

  /// The value of a rule, in the form that `set` reads; nil where it is not set.
  package func text(_ key: Key) -> String? {
    switch key {
    case .autoDownload: autoDownload?.text
    case .autoOrder: autoOrder?.rawValue
    case .include: include.map(Self.text)
    case .exclude: exclude.map(Self.text)
    case .minDuration: minDuration.map(Self.length)
    case .maxDuration: maxDuration.map(Self.length)
    case .kinds:
      kinds.map { kinds in EpisodeKind.allCases.filter(kinds.contains).map(\.rawValue).joined(separator: ",")
      }
    case .afterPlayed: afterPlayed?.text
    case .notify: notify.map { $0 ? "1" : "0" }
    }
  }

  /// Bytes: an attribute's value is listed whole.
  private static let phraseLimit = 500

  private static func phrases(_ text: String) -> [String]? {
    let phrases = QueryTerm.all(in: text).map(\.text).filter { $0.contains { $0.isLetter || $0.isNumber } }
    return phrases.isEmpty || text.utf8.count > phraseLimit ? nil : phrases
  }

  private static func text(_ phrases: [String]) -> String {
    phrases.map { $0.contains(where: \.isWhitespace) ? "\"\($0)\"" : $0 }.joined(separator: " ")
  }

  /// "1h", "10m", "90s".
  private static func length(_ seconds: Int) -> String {
    if seconds % 3600 == 0 { return "\(seconds / 3600)h" }
    return seconds % 60 == 0 ? "\(seconds / 60)m" : "\(seconds)s"
  }

  private static func kinds(_ text: String) -> Set<EpisodeKind>? {
    let names = text.lowercased().split(whereSeparator: { $0 == "," || $0.isWhitespace }).map(String.init)
    let kinds = names.compactMap(EpisodeKind.init(rawValue:))
    return kinds.isEmpty || kinds.count < names.count ? nil : Set(kinds)
  }
}

extension SubscriptionRules.Amount {
  init?(text: String) {
    if text == "all" {
      self = .all
    } else if let age = AgeText.seconds(text) {
      self = .age(age)
    } else if let count = Int(text), text.utf8.allSatisfy({ (48...57).contains($0) }) {
      self = count == 0 ? .none : .count(count)
    } else {
      return nil
    }
  }

  var text: String {
    switch self {
    case .none: "0"
    case .count(let count): String(count)
    case .age(let seconds): AgeText.text(seconds)
    case .all: "all"
    }
  }
}

extension SubscriptionRules.AfterPlayed {
  init?(text: String) {
    switch text {
    case "keep": self = .keep
    case "drop": self = .drop(after: 0)
    default:
      guard text.hasPrefix("drop:"), let seconds = AgeText.seconds(String(text.dropFirst(5))) else {
        return nil
      }
      self = .drop(after: seconds)
    }
  }

  var text: String {
    switch self {
    case .keep: "keep"
    case .drop(0): "drop"
    case .drop(let seconds): "drop:\(AgeText.text(seconds))"
    }
  }
}
