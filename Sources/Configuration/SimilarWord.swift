package enum SimilarWord {
  /// ": did you mean WORD?", to be put behind what is wrong. The word is the fewest changes away, at most a third of its
  /// letters; nothing where none is, or the word is right.
  package static func question(_ word: String, among words: [String]) -> String {
    // Of two that are as near, the one that begins with the same letter.
    let near = words.map { (word: $0, distance: distance(word, $0)) }.min {
      ($0.distance, $0.word.first == word.first ? 0 : 1) < ($1.distance, $1.word.first == word.first ? 0 : 1)
    }
    guard let near, (1...max(near.word.count / 3, 1)).contains(near.distance) else { return "" }
    return ": did you mean \(near.word)?"
  }

  /// Letters to be put in, left out, changed, or swapped with their neighbour (Damerau and Levenshtein).
  private static func distance(_ first: String, _ second: String) -> Int {
    let (a, b) = (Array(first.prefix(64)), Array(second))
    var rows = [Array(0...b.count)]
    for i in 0..<a.count {
      var row = [i + 1]
      for j in 0..<b.count {
        var least = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { least = min(least, rows[i - 1][j - 1] + 1) }
        row.append(least)
      }
      rows.append(row)
    }
    return rows[a.count][b.count]
  }
}
