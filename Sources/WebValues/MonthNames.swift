/// Names of months, whole, inflected or cut short, in the languages in which sites write the dates of their feeds.
enum MonthNames {
  static let english = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// 1 to 12 for a lower-case word; nil for a word that names no month.
  static func number(_ word: [UInt8]) -> Int? {
    guard word.count >= 3 else { return nil }
    if word.starts(with: "mar".utf8) { return march(word) }
    return stems.first {
      word.starts(with: $0.stem) && ($0.stem.count > 4 || $0.stem[0] < 0x80 || word == $0.stem)
    }?.month
  }

  /// "mar" begins the third month of many languages, and also Tuesday (mardi, martes, martedì) and the eleventh
  /// month in Finnish (marraskuu).
  private static func march(_ word: [UInt8]) -> Int? {
    if word.starts(with: "marras".utf8) { return 11 }
    let isMarch =
      word.count == 3 || ["marc", "març", "mars", "marz", "mart"].contains { word.starts(with: $0.utf8) }
    return isMarch && !word.starts(with: "marte".utf8) ? 3 : nil
  }

  /// A word names the month with the longest stem that it begins with. Stems of two letters are whole words:
  /// other words begin with them.
  private static let stems: [(stem: [UInt8], month: Int)] = [
    // English, and the languages that share its stems.
    english.map { $0.lowercased() },
    // German, Dutch, Scandinavian.
    ["jän", "", "mär mrt maart", "", "mai mei maj", "", "", "", "", "okt", "", "dez des"],
    // French, Spanish, Catalan, Portuguese, Italian.
    [
      "ene gen", "fév fev", "", "avr abr", "mag", "juin giu", "juil lug", "aoû aou ago", "set", "ott out", "",
      "déc dic",
    ],
    // Polish and Czech.
    [
      "sty led", "lut úno", "bře", "kwi dub", "kvě", "cze čer čvn", "červenc čvc lip", "sie srp", "wrz zář",
      "paź říj",
      "lis", "gru pro",
    ],
    // Finnish.
    [
      "tammi", "helmi", "maalis", "huhti", "touko", "kesä", "heinä", "elo", "syys", "loka", "marras", "joulu",
    ],
    // Turkish.
    ["oca", "şub", "", "nis", "", "haz", "tem", "ağu", "eyl", "eki", "kas", "ara"],
    // Russian and Ukrainian.
    [
      "янв січ", "фев лют", "мар бер", "апр кві", "май мая тра", "июн чер", "июл лип", "авг сер", "сен вер",
      "окт жов",
      "ноя лис", "дек гру",
    ],
    // Greek.
    [
      "ιαν", "φεβ", "μαρ μάρ", "απρ", "μαι μάι μαΐ μαϊ", "ιουν ιούν", "ιουλ ιούλ", "αυγ αύγ", "σεπ", "οκτ",
      "νοε νοέ",
      "δεκ",
    ],
    // Hebrew; the letter before a name means "in".
    [
      "ינו בינו", "פבר בפבר", "מרץ מרס במרץ במרס", "אפר באפר", "מאי במאי", "יוני ביוני", "יולי ביולי",
      "אוג באוג",
      "ספט בספט", "אוק באוק", "נוב בנוב", "דצמ בדצמ",
    ],
    // Arabic: as in Egypt, then as in the Levant.
    [
      "يناير", "فبراير شباط", "مارس آذار", "أبريل ابريل إبريل نيسان", "مايو أيار", "يونيو حزيران",
      "يوليو تموز",
      "أغسطس اغسطس آب", "سبتمبر أيلول", "أكتوبر اكتوبر", "نوفمبر", "ديسمبر",
    ],
    // Persian names of the Gregorian months.
    [
      "ژانویه", "فوریه", "مارس", "آوریل", "مه", "ژوئن", "ژوئیه جولای", "اوت آگوست", "سپتامبر", "اکتبر",
      "نوامبر", "دسامبر",
    ],
  ].flatMap { language in
    language.enumerated().flatMap { index, stems in
      stems.split(separator: " ").map { (Array($0.utf8), index + 1) }
    }
  }.sorted { $0.stem.count > $1.stem.count }
}
