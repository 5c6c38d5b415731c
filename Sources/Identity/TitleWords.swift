internal import PodcastModel

/// A title's words, to tell a correction from the title of another episode.
struct TitleWords: Sendable {
  let all: [String]

  init(_ title: String) {
    all = TitleText.plain(title).lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
  }

  /// One word at the most besides numbers, as "Trailer" and "Episode 1": each season has them.
  var isOfAnySeason: Bool { all.count { !$0.contains(where: \.isNumber) } <= 1 }

  var hasNumber: Bool { !numbers.isEmpty }

  /// Whether the one is the other with letters mended, or with some words more around it. Another number is another
  /// episode's.
  func isCorrection(of other: TitleWords) -> Bool {
    if all.count == other.all.count {
      return !all.isEmpty && numbers == other.numbers && zip(all, other.all).allSatisfy(Self.isMended)
    }
    let (short, long) = all.count < other.all.count ? (self, other) : (other, self)
    if short.numbers.count == short.all.count { return false }
    return long.all.indices.dropLast(short.all.count - 1).contains { long.all[$0...].starts(with: short.all) }
  }

  private var numbers: [String] { all.filter { $0.contains(where: \.isNumber) } }

  /// A word that differs by what a slip of the fingers makes.
  private static func isMended(_ word: String, _ other: String) -> Bool {
    if word == other { return true }
    let (one, two) = (Array(word), Array(other))
    let length = min(one.count, two.count)
    // Short words that differ are others: "A" and "B", "one" and "two".
    let most = length < 4 ? 0 : length < 8 ? 1 : 2
    return abs(one.count - two.count) <= most && max(one.count, two.count) <= longest
      && distance(one, two) <= most
  }

  /// Letters; longer words are not compared.
  private static let longest = 40

  /// Letters to be added, left out, changed, or exchanged with their neighbours.
  private static func distance(_ one: [Character], _ other: [Character]) -> Int {
    var rows = [Array(0...other.count)]
    for (i, letter) in one.enumerated() {
      var row = [i + 1]
      for (j, opposite) in other.enumerated() {
        var least = min(rows[i][j + 1], row[j]) + 1
        least = min(least, rows[i][j] + (letter == opposite ? 0 : 1))
        if i > 0, j > 0, letter == other[j - 1], one[i - 1] == opposite {
          least = min(least, rows[i - 1][j - 1] + 1)
        }
        row.append(least)
      }
      rows.append(row)
    }
    return rows[one.count][other.count]
  }
}
