/// Names of months, whole, inflected or cut short, in the languages in which sites write the dates of their feeds.
enum MonthNames {
  static let english = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// 1 to 12 for a lower-case word; nil for a word that names no month.
  /// - Parameter isCroatian: the date's weekday is. Some Croatian months have the names of other Czech and Polish ones.
  static func number(_ word: [UInt8], isCroatian: Bool = false) -> Int? {
    guard word.count >= 3 else { return nil }
    if word.starts(with: "mar".utf8) { return march(word) }
    if isCroatian, let found = croatian.first(where: { word.starts(with: $0.stem.utf8) }) {
      return found.month
    }
    return stems.first { word.starts(with: $0.stem) && (!$0.isWhole || word == $0.stem) }?.month
  }

  /// The months of the Levant that have names of two words.
  static func levantine(_ first: String, _ second: [UInt8]) -> Int? {
    switch (first, String(decoding: second, as: UTF8.self)) {
    case ("كانون", "الثاني"), ("كانون", "الثانى"): 1
    case ("كانون", "الأول"), ("كانون", "الاول"): 12
    case ("تشرين", "الأول"), ("تشرين", "الاول"): 10
    case ("تشرين", "الثاني"), ("تشرين", "الثانى"): 11
    default: nil
    }
  }

  static func isCroatianWeekday(_ word: [UInt8]) -> Bool {
    croatianWeekdays.contains(String(decoding: word, as: UTF8.self))
  }

  private static let croatian: [(stem: String, month: Int)] = [("lip", 6), ("srp", 7), ("lis", 10)]
  private static let croatianWeekdays: Set<String> = [
    "ponedjeljak", "uto", "utorak", "sri", "srijeda", "čet", "četvrtak", "pet", "petak", "sub", "subota",
    "ned",
    "nedjelja",
  ]

  /// "mar" begins the third month of many languages, and also Tuesday (mardi, martes, martedì) and the eleventh
  /// month in Finnish (marraskuu).
  private static func march(_ word: [UInt8]) -> Int? {
    if word.starts(with: "marras".utf8) { return 11 }
    let isMarch =
      word.count == 3
      || ["marc", "març", "mare", "mars", "marz", "mart"].contains { word.starts(with: $0.utf8) }
    return isMarch && !word.starts(with: "marte".utf8) ? 3 : nil
  }

  /// A word names the month with the longest stem that it begins with. Stems of two letters are whole words:
  /// other words begin with them.
  private static let stems: [(stem: [UInt8], isWhole: Bool, month: Int)] = [
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
      "sty led", "lut úno", "bře", "kwi dub", "kvě", "cze čer čvn", "červenc červene čec čvc lip", "sie srp",
      "wrz zář", "paź říj", "lis", "gru pro",
    ],
    // Romanian, Hungarian, Slovak, Galician.
    [
      "ian xan", "", "már", "ápr", "máj", "iun jún xuñ", "iul júl xul", "", "", "", "noi", "",
    ],
    // Croatian, where no other language has the same.
    [
      "sij", "velj", "ožu", "travnj travanj", "svibnj svibanj", "lipnj lipanj", "srpnj srpanj", "kolovoz",
      "ruj", "",
      "studen", "",
    ],
    // Icelandic, Slovene, Estonian, Latvian.
    [
      "jaan", "veeb", "", "", "maí", "juun jūn", "juul jūl", "ágú avg", "", "", "nóv", "det",
    ],
    // Indonesian, Malay.
    ["", "", "mac", "", "", "", "", "agu agt ags ogo", "", "", "", "dis"],
    // Finnish.
    [
      "tammi", "helmi", "maalis", "huhti", "touko", "kesä", "heinä", "elo", "syys", "loka", "marras", "joulu",
    ],
    // Turkish.
    ["oca", "şub", "", "nis", "", "haz", "tem", "ağu", "eyl", "eki", "kas", "ara"],
    // Russian and Ukrainian.
    [
      "янв яну січ", "фев лют", "мар бер", "апр кві", "май мая тра", "июн юни чер", "июл юли лип", "авг сер",
      "сен вер",
      "окт жов",
      "ноя лис", "дек гру",
    ],
    // Serbian; Bulgarian where it differs from Russian.
    ["јан", "", "", "", "мај", "јун", "јул", "", "", "", "нов ное", "дец"],
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
    // Arabic: as in Egypt, in the Levant, in the Maghreb.
    [
      "يناير جانفي", "فبراير شباط فيفري", "مارس آذار اذار", "أبريل ابريل إبريل نيسان أفريل",
      "مايو أيار ايار ماي",
      "يوني حزيران جوان", "يولي تموز جويلية", "أغسطس اغسطس آب أوت غشت", "سبتمبر أيلول ايلول شتنبر",
      "أكتوبر اكتوبر", "نوفمبر نونبر", "ديسمبر دجنبر",
    ],
    // Persian names of the Gregorian months.
    [
      "ژانویه جنوری", "فوریه فبروری", "مارس مارچ", "آوریل آپریل اپریل", "مه می", "ژوئن جون", "ژوئیه جولای",
      "اوت آگوست اگست", "سپتامبر", "اکتبر اکتوبر", "نوامبر", "دسامبر",
    ],
  ].flatMap { language in
    language.enumerated().flatMap { index, stems in
      stems.split(separator: " ").map { (Array($0.utf8), $0.count <= 2, index + 1) }
    }
  }.sorted { $0.stem.count > $1.stem.count }
}
