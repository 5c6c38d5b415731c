import Identity
import PodcastModel
import TestSupport
import Testing

/// What a small publisher's feed says from one refresh to the next, each item with the number of its episode, which no
/// reader of the feed knows.
struct PublisherHistory: CustomTestStringConvertible {
  static let hour: Int64 = 3600
  static let day: Int64 = 86_400
  static let start: Int64 = 1_704_276_000  // 2024-01-03 10:00

  var name: String
  var episodes = 8
  /// Items that the feed shows at a time.
  var window = 1
  /// Seconds between two episodes; nil where the feed says no dates.
  var gap: Int64? = day
  var title: @Sendable (Int) -> String = { _ in "The news" }
  var guid: @Sendable (Int) -> String? = { _ in nil }
  /// Of an episode, in an answer.
  var address: @Sendable (Int, Int) -> String
  var duration: @Sendable (Int) -> Int? = { _ in nil }
  var length: @Sendable (Int) -> Int64? = { _ in nil }
  /// What is done to the items of an answer.
  var change: (@Sendable (Int, inout [ItemTraits]) -> Void)?

  init(_ name: String, at address: @escaping @Sendable (Int, Int) -> String) {
    self.name = name
    self.address = address
  }

  var testDescription: String { "\(name), \(window) of \(episodes)" }

  func with(_ change: (inout PublisherHistory) -> Void) -> PublisherHistory {
    var other = self
    change(&other)
    return other
  }

  private func item(_ number: Int, answer: Int) -> ItemTraits {
    var traits = ItemTraits(address: WebAddress(address(number, answer)), title: title(number))
    traits.guid = guid(number)
    traits.published = gap.map { Self.start + Int64(number) * $0 }
    traits.duration = duration(number)
    traits.length = length(number)
    return traits
  }

  /// Each state of the feed is seen twice.
  private var answers: [[(number: Int, item: ItemTraits)]] {
    var answers: [[(number: Int, item: ItemTraits)]] = []
    for end in min(window, episodes)...episodes {
      for _ in 0..<2 {
        let numbers = Array((max(0, end - window)..<end).reversed())
        var items = numbers.map { item($0, answer: answers.count) }
        change?(answers.count, &items)
        answers.append(Array(zip(numbers, items)))
      }
    }
    return answers
  }

  struct Outcome: Hashable {
    /// An episode that has become another one: its name stands for what that one has.
    var confused = 0
    /// An episode that is there already.
    var doubled = 0
    var known = 0
  }

  /// What becomes of it.
  var outcome: Outcome {
    var (known, numbers, outcome) = ([ItemTraits](), [Int](), Outcome())
    for answer in answers {
      let items = answer.map(\.item)
      let places = IdentityEngine.decide(items, known: known).map(\.place)
      let reversed = IdentityEngine.decide(items.reversed(), known: known).map(\.place)
      #expect(Array(reversed.reversed()) == places, "\(name): the order makes a difference")
      for ((number, item), place) in zip(answer, places) {
        if let place {
          if numbers[place] != number { outcome.confused += 1 }
          (known[place], numbers[place]) = (item, number)
        } else {
          if numbers.contains(number) { outcome.doubled += 1 }
          known.append(item)
          numbers.append(number)
        }
      }
    }
    outcome.known = known.count
    return outcome
  }

  /// Letters and digits as by chance, of two numbers.
  static func token(_ one: Int, _ other: Int) -> String {
    var random = SeededGenerator(seed: UInt64(one * 7919 + other * 104_729 + 13))
    return "\(String(random.next(), radix: 16))f7"
  }
}
