/// The names that podcasts, episodes and searches get in the tree (Documentation/Semantics.md): pure rules. Given once
/// and then kept by the catalogue; `UniqueNames` tells equal ones apart.
package enum EpisodeName {
  /// The most bytes of UTF-8 that a name has before its extension.
  package static let byteLimit = 200

  /// What stands for a title that is missing or holds nothing that a name may hold.
  package static let untitled = "Untitled"

  /// An episode's name before its extension: "2024-01-03 - A quiet harbour".
  /// - Parameter published: seconds since 1970; the date in the name is UTC's.
  package static func stem(published: Int64, title: String?) -> String {
    let date = CivilDate(secondsSinceEpoch: published).description
    return withinLimit(date + " - ", FileNameText.cleaned(TitleText.plain(title ?? "")))
  }

  /// A podcast's directory.
  package static func directoryName(title: String?) -> String {
    let cleaned = FileNameText.trimmedStart(FileNameText.cleaned(TitleText.plain(title ?? "")))
    let name = FileNameText.withoutDeviceName(FileNameText.cut(cleaned, toBytes: byteLimit))
    return name.isEmpty ? untitled : FileNameText.cut(name, toBytes: byteLimit)
  }

  /// Whether a podcast's directory can have this name.
  package static func isDirectoryName(_ name: String) -> Bool {
    let cleaned = FileNameText.trimmedStart(FileNameText.cleaned(name))
    // By their bytes: names that only look the same are others to the kernel.
    return !name.isEmpty && name.utf8.count <= byteLimit
      && FileNameText.withoutDeviceName(cleaned).utf8.elementsEqual(name.utf8)
  }

  /// Whether characters of a name are to blame where `isDirectoryName` says no: else it is a device's, or it begins or
  /// ends as none may.
  package static func hasForbiddenCharacters(_ name: String) -> Bool {
    FileNameText.cleaned("x\(name)x") != "x\(name)x"
  }

  /// An episode's name in the views across podcasts, before its extension:
  /// "2024-01-03 - Harbour Lights - A quiet harbour". Where both are long, each keeps half of the room, and
  /// a number at the end of the stem (" (2)") stays.
  /// - Parameters:
  ///   - podcast: the podcast's directory name.
  ///   - stem: what `stem(published:title:)` gave, perhaps numbered.
  package static func viewStem(podcast: String, stem: String) -> String {
    let date = String(stem.prefix(10))
    let episode = String(stem.dropFirst(13))
    let room = byteLimit - date.utf8.count - 2 * " - ".utf8.count
    let half = room / 2
    let ofPodcast = min(podcast.utf8.count, max(half, room - episode.utf8.count))
    let shortPodcast = FileNameText.cut(podcast, toBytes: ofPodcast)
    let prefix = date + " - " + (shortPodcast.isEmpty ? untitled : shortPodcast) + " - "
    let (title, number) = splitNumber(episode)
    return withinLimit(prefix, title, suffix: number)
  }

  /// Puts a number after a name: "Harbour Lights (2)", cut so that it keeps within the limit.
  package static func numbered(_ name: String, _ number: Int) -> String {
    let suffix = " (\(number))"
    return FileNameText.cut(name, toBytes: byteLimit - suffix.utf8.count) + suffix
  }

  private static func withinLimit(_ prefix: String, _ title: String, suffix: String = "") -> String {
    let room = byteLimit - prefix.utf8.count - suffix.utf8.count
    let cut = FileNameText.cut(title, toBytes: room)
    return prefix + (cut.isEmpty ? untitled : cut) + suffix
  }

  /// Parts "Title (2)" into "Title" and " (2)".
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
