/// Texts whose words are as often as those of real ones: few very often, most seldom (Zipf's law, thirty thousand words).
struct WordSource {
  private static let size = 30_000
  private var state: UInt64

  init(seed: UInt64 = 0) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

  /// The word of this rank: the lower, the more often.
  func word(_ rank: Int) -> String { Self.words[rank % Self.size] }

  mutating func text(_ count: Int) -> String {
    var text = ""
    for _ in 0..<count {
      text += Self.words[rank()]
      text += " "
    }
    return text
  }

  /// About proportional to 1/rank: as likely between 1 and 10 as between 10 and 100.
  private mutating func rank() -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    let range = Self.size >> Int(state >> 60 & 15)
    return Int(state >> 20 & 0xFFFF_FFFF) % max(range, 1)
  }

  private static let words: [String] = {
    let syllables = [
      "ha", "lo", "the", "mi", "ra", "ber", "to", "lin", "sa", "ne", "ku", "vor", "pe", "sti", "an", "do",
      "gre", "ush",
      "il", "ma",
    ]
    return (0..<size).map { rank in
      var rest = rank
      var word = ""
      repeat {
        word += syllables[rest % syllables.count]
        rest /= syllables.count
      } while rest > 0
      return word
    }
  }()
}
