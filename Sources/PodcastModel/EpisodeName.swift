/// The names that podcasts, episodes and searches get in the tree (Documentation/Semantics.md): pure rules. The catalogue
/// gives a name once and keeps it; `UniqueNames` tells equal names apart.
package enum EpisodeName {
  /// The most bytes of UTF-8 that a name has before its extension.
  package static let byteLimit = 200
  /// The most Unicode scalars that a name has before its extension. A file name on Windows has at most 255 UTF-16 units.
  package static let characterLimit = 120
  /// The most Unicode scalars of the podcast's part in a name that has both a podcast's and an episode's part.
  package static let podcastLimit = 32

  /// Stands for a title that is missing or holds nothing that a name may hold.
  package static let untitled = "Untitled"
  private static let separator = " - "

  /// An episode's name before its extension: "2024-01-03 - A quiet harbour".
  /// - Parameters:
  ///   - published: seconds since 1970; the date in the name is UTC's.
  ///   - marks: stands behind the date: "1830" or "1830 - S02E01".
  ///   - fileExtension: with its dot: a title that ends with it, as a file's name does, loses it.
  package static func stem(
    published: Int64, marks: String = "", title: String?, fileExtension: String = ""
  ) -> String {
    let prefix = CivilTime.date(published) + marks + separator
    var name = FileNameText.cleaned(TitleText.plain(title ?? ""))
    if name.utf8.count > fileExtension.utf8.count, name.lowercased().hasSuffix(fileExtension) {
      name = FileNameText.trimmedEnd(String(name.dropLast(fileExtension.count)))
    }
    return withinLimit(prefix, name)
  }

  package static func directoryName(title: String?) -> String {
    let cleaned = FileNameText.trimmedStart(FileNameText.cleaned(TitleText.plain(title ?? "")))
    let name = FileNameText.withoutDeviceName(cut(cleaned))
    return name.isEmpty ? untitled : cut(name)
  }

  package static func isDirectoryName(_ name: String) -> Bool {
    let cleaned = FileNameText.trimmedStart(FileNameText.cleaned(name))
    // By their bytes: names that only look the same are others to the kernel.
    return !name.isEmpty && name.utf8.count <= byteLimit
      && FileNameText.withoutDeviceName(cleaned).utf8.elementsEqual(name.utf8)
  }

  /// Whether a name has characters that no name may have. Where `isDirectoryName` is false and this is too, the name is
  /// a device's, or begins or ends as none may.
  package static func hasForbiddenCharacters(_ name: String) -> Bool {
    FileNameText.cleaned("x\(name)x") != "x\(name)x"
  }

  /// An episode's name in a view over several podcasts, before its extension:
  /// "2024-01-03 - Harbour Lights - A quiet harbour". A number at the end of the stem (" (2)") stays.
  /// - Parameters:
  ///   - podcast: the podcast's directory name.
  ///   - stem: the episode's name in its podcast's directory.
  package static func viewStem(podcast: String, stem: String) -> String {
    let (date, episode) = splitDate(stem)
    return viewStem(of: episode, podcast: podcast, behind: String(date))
  }

  /// An episode's name in the queue: "001 - Harbour Lights - A quiet harbour".
  package static func queueStem(place: Int, podcast: String, stem: String) -> String {
    viewStem(of: splitDate(stem).episode, podcast: podcast, behind: CivilTime.padded(place, 3))
  }

  /// - Returns: the date, perhaps with an hour or a number; and what follows it.
  private static func splitDate(_ stem: String) -> (date: Substring, episode: String) {
    let date = stem.firstRange(of: separator).map { stem[..<$0.lowerBound] } ?? stem.prefix(10)
    return (date, String(stem.dropFirst(date.count + separator.count)))
  }

  private static func viewStem(of episode: String, podcast: String, behind mark: String) -> String {
    // Half of the bytes at most: a title remains also where the podcast's characters are long.
    let short = FileNameText.cut(podcast, toBytes: byteLimit / 2, characters: podcastLimit)
    let prefix = mark + separator + (short.isEmpty ? untitled : short) + separator
    let (title, number) = splitNumber(episode)
    return withinLimit(prefix, title, suffix: number)
  }

  /// Puts a number after a name: "Harbour Lights (2)", cut so that it keeps within the limit.
  package static func numbered(_ name: String, _ number: Int) -> String {
    let suffix = " (\(number))"
    return cut(name, leaving: suffix) + suffix
  }

  private static func cut(_ text: String, leaving room: String = "") -> String {
    FileNameText.cut(
      text, toBytes: byteLimit - room.utf8.count, characters: characterLimit - room.unicodeScalars.count)
  }

  private static func withinLimit(_ prefix: String, _ title: String, suffix: String = "") -> String {
    let cut = cut(title, leaving: prefix + suffix)
    return prefix + (cut.isEmpty ? untitled : cut) + suffix
  }

  private static func splitNumber(_ text: String) -> (String, String) {
    guard text.hasSuffix(")"), let open = text.lastIndex(of: "("), open > text.startIndex else {
      return (text, "")
    }
    let digits = text[text.index(after: open)...].dropLast()
    let space = text.index(before: open)
    guard text[space] == " ", (1...6).contains(digits.utf8.count),
      digits.utf8.allSatisfy({ (48...57).contains($0) })
    else { return (text, "") }
    return (String(text[..<space]), String(text[space...]))
  }
}
