/// What podcastfs does by itself for the episodes of a subscription. Rules are attributes of a subscription's folder and
/// keys of the configuration: both have the same names and values. A rule that is nil is not set.
package struct SubscriptionRules: Hashable, Sendable {
  /// In the form that `set` gives them.
  private var values: [Key: String] = [:]

  package init() {}

  package enum Key: String, CaseIterable, Hashable, Sendable {
    case autoDownload = "auto_download"
    case autoOrder = "auto_order"
    case include, exclude
    case minDuration = "min_duration"
    case maxDuration = "max_duration"
    case kinds
    case afterPlayed = "after_played"
    case notify
  }

  package enum Amount: Hashable, Sendable {
    case none
    case count(Int)
    /// Those published within so many seconds.
    case age(Int64)
    case all
  }

  package enum Order: String, Hashable, Sendable {
    case newest
    /// The episodes after the one that was played last; for serials.
    case next
  }

  package enum AfterPlayed: Hashable, Sendable {
    case keep
    /// The download is dropped so many seconds after the episode was played.
    case drop(after: Int64)
  }

  package struct Malformed: Error, Hashable, Sendable, CustomStringConvertible {
    package var key: Key
    package var value: String
    package var description: String { "\(key.rawValue): \"\(value)\" is not \(key.form)" }
  }

  /// The value of a rule, in the form that `set` reads; nil where it is not set.
  package func text(_ key: Key) -> String? { values[key] }

  /// Sets a rule; an empty value removes it.
  /// - Throws: `Malformed`; nothing has changed then.
  package mutating func set(_ key: Key, to text: String) throws(Malformed) {
    let value = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    if value.isEmpty { return values[key] = nil }
    guard let known = key.canonical(value) else { throw Malformed(key: key, value: text) }
    values[key] = known
  }

  /// These rules, and those of `defaults` where none is set here.
  package func completed(by defaults: SubscriptionRules) -> SubscriptionRules {
    var rules = self
    rules.values.merge(defaults.values) { own, _ in own }
    return rules
  }
}

extension SubscriptionRules {
  package var autoDownload: Amount? { values[.autoDownload].flatMap(Amount.init(text:)) }
  package var autoOrder: Order? { values[.autoOrder].flatMap(Order.init(rawValue:)) }
  /// Words and phrases of the title; one of them must be there.
  package var include: [String]? { values[.include].flatMap(Self.phrases) }
  /// Words and phrases of the title; none of them may be there.
  package var exclude: [String]? { values[.exclude].flatMap(Self.phrases) }
  /// In seconds. An episode of unknown length passes.
  package var minDuration: Int? { values[.minDuration].flatMap(DurationText.seconds) }
  /// In seconds. An episode of unknown length passes.
  package var maxDuration: Int? { values[.maxDuration].flatMap(DurationText.seconds) }
  package var kinds: Set<EpisodeKind>? { values[.kinds].flatMap(Self.kinds) }
  package var afterPlayed: AfterPlayed? { values[.afterPlayed].flatMap(AfterPlayed.init(text:)) }
  /// Whether a new episode is announced on the desktop.
  package var notify: Bool? { values[.notify].map { $0 == "1" } }

  fileprivate static func phrases(_ text: String) -> [String]? {
    let phrases = QueryTerm.all(in: text).map(\.text).filter { $0.contains { $0.isLetter || $0.isNumber } }
    // An attribute's value is listed whole.
    return phrases.isEmpty || text.utf8.count > 500 ? nil : phrases
  }

  fileprivate static func kinds(_ text: String) -> Set<EpisodeKind>? {
    let names = text.lowercased().split(whereSeparator: { $0 == "," || $0.isWhitespace }).map(String.init)
    let kinds = names.compactMap(EpisodeKind.init(rawValue:))
    return kinds.isEmpty || kinds.count < names.count ? nil : Set(kinds)
  }
}

extension SubscriptionRules.Key {
  /// A value in the one form of all that mean the same; nil where it means nothing.
  fileprivate func canonical(_ text: String) -> String? {
    switch self {
    case .autoDownload:
      text == "all" ? text : AgeText.seconds(text).map(AgeText.text) ?? text.wholeNumber.map(String.init)
    case .autoOrder: SubscriptionRules.Order(rawValue: text)?.rawValue
    case .include, .exclude:
      SubscriptionRules.phrases(text).map { phrases in
        phrases.map { $0.contains(where: \.isWhitespace) ? "\"\($0)\"" : $0 }.joined(separator: " ")
      }
    case .minDuration, .maxDuration: DurationText.seconds(text).map(DurationText.text)
    case .kinds:
      SubscriptionRules.kinds(text).map { kinds in
        EpisodeKind.allCases.filter(kinds.contains).map(\.rawValue).joined(separator: ",")
      }
    case .afterPlayed:
      if case .drop(let seconds)? = SubscriptionRules.AfterPlayed(text: text) {
        seconds == 0 ? "drop" : "drop:\(AgeText.text(seconds))"
      } else {
        text == "keep" ? text : nil
      }
    case .notify: ["0", "1"].contains(text) ? text : nil
    }
  }

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

  package var form: String { "\(placeholder) (\(purpose))" }

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
}

extension SubscriptionRules: FieldCoded {
  package mutating func code(_ fields: inout BinaryFields) throws(BinaryError) {
    for key in Key.allCases {
      var text = values[key]
      try fields.code(&text)
      try? set(key, to: text ?? "")
    }
  }
}

extension SubscriptionRules.Amount {
  fileprivate init?(text: String) {
    if text == "all" {
      self = .all
    } else if let age = AgeText.seconds(text) {
      self = .age(age)
    } else if let count = text.wholeNumber {
      self = count == 0 ? .none : .count(Int(count))
    } else {
      return nil
    }
  }
}

extension SubscriptionRules.AfterPlayed {
  fileprivate init?(text: String) {
    if text == "keep" {
      self = .keep
    } else if text == "drop" {
      self = .drop(after: 0)
    } else if text.hasPrefix("drop:"), let seconds = AgeText.seconds(String(text.dropFirst(5))) {
      self = .drop(after: seconds)
    } else {
      return nil
    }
  }
}

/// What an episode is, as `itunes:episodeType` says it; `full` where it says nothing.
package enum EpisodeKind: String, CaseIterable, Hashable, Sendable { case full, trailer, bonus }
