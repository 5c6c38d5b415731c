/// Names of months, whole or cut short, in English and the languages that feeds are wrongly dated in.
enum MonthNames {
  /// 1 to 12 for a lower-case word; nil for any other.
  static func number(_ word: [UInt8]) -> Int? {
    guard word.count >= 3 else { return nil }
    if let found = english(word) { return found }
    return foreign.first { word.starts(with: $0.prefix) }?.month
  }

  /// By the first three letters, as these are distinct.
  private static func english(_ word: [UInt8]) -> Int? {
    switch UInt32(word[0]) << 16 | UInt32(word[1]) << 8 | UInt32(word[2]) {
    case 0x6A616E: 1
    case 0x666562: 2
    case 0x6D6172: word.count > 3 && word[3] == 0x64 ? nil : 3  // "mardi" is a Tuesday.
    case 0x617072: 4
    case 0x6D6179: 5
    case 0x6A756E: 6
    case 0x6A756C: 7
    case 0x617567: 8
    case 0x736570: 9
    case 0x6F6374: 10
    case 0x6E6F76: 11
    case 0x646563: 12
    default: nil
    }
  }

  private static let foreign: [(prefix: [UInt8], month: Int)] = [
    ("ene", 1), ("gen", 1), ("jän", 1), ("sty", 1), ("янв", 1), ("fév", 2), ("fev", 2), ("лют", 2),
    ("фев", 2),
    ("mär", 3), ("maa", 3), ("mrt", 3), ("мар", 3), ("avr", 4), ("abr", 4), ("апр", 4), ("kwi", 4),
    ("mai", 5), ("mag", 5), ("maj", 5), ("mei", 5), ("май", 5), ("мая", 5), ("giu", 6), ("juin", 6),
    ("июн", 6), ("juil", 7), ("lug", 7), ("июл", 7), ("aoû", 8), ("aou", 8), ("ago", 8), ("авг", 8),
    ("set", 9), ("сен", 9), ("okt", 10), ("ott", 10), ("out", 10), ("окт", 10), ("ноя", 11), ("déc", 12),
    ("dez", 12), ("dic", 12), ("des", 12), ("дек", 12),
  ].map { (Array($0.0.utf8), $0.1) }
}
