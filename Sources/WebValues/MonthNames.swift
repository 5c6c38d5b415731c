/// Names of months, whole, inflected or cut short: English ones, and those of languages whose programs write their own into
/// feeds (German, Dutch, the Scandinavian and the Romance ones).
enum MonthNames {
  static let english = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// 1 to 12 for a lower-case word; nil for a word that names no month.
  static func number(_ word: [UInt8]) -> Int? {
    // Tuesday: mardi, martes, martedì.
    if word.starts(with: "mard".utf8) || word.starts(with: "marte".utf8) { return nil }
    return stems.firstIndex { $0.contains { word.starts(with: $0) } }.map { $0 + 1 }
  }

  private static let stems = [
    "jan jän gen ene", "feb fév", "mar mär mrt maart", "apr avr abr", "may mai mei maj mag", "jun juin giu",
    "jul juil lug", "aug aoû ago", "sep set", "oct okt ott out", "nov", "dec dez des déc dic",
  ].map { $0.split(separator: " ").map { Array($0.utf8) } }
}
