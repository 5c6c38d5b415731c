internal import PodcastModel

/// Any title gives valid names that stay as they are when they are named again.
enum NameFuzzing {
  static func run(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    let title = String(decoding: bytes, as: UTF8.self)
    let directory = EpisodeName.directoryName(title: title)
    let stem = EpisodeName.stem(published: Int64(bytes.count) << 20, title: title)
    var names = UniqueNames(taken: [directory, stem])
    let all = [
      directory, stem, EpisodeName.viewStem(podcast: directory, stem: stem), names.claim(directory),
      names.claim(stem),
    ]
    for name in all { check(name) }
    precondition(Set(all.map(UniqueNames.key)).count >= 4)
    if !directory.contains("&") { precondition(EpisodeName.directoryName(title: directory) == directory) }
    _ = PlainText.text(title)
    _ = DateText.seconds(title)
    _ = DurationText.seconds(title)
    _ = MediaType.fileExtension(type: title, url: WebAddress(title))
    return 0
  }

  private static func check(_ name: String) {
    precondition(!name.isEmpty && name.utf8.count <= 200, name)
    precondition(name.utf8.elementsEqual(name.inNormalizationFormC.utf8), name)
    let forbidden = Set(#"/\:*?"<>|"#.unicodeScalars)
    for scalar in name.unicodeScalars {
      let category = scalar.properties.generalCategory
      precondition(!forbidden.contains(scalar) && category != .control && category != .format, name)
    }
    precondition(name.first != "." && name.first != "-" && name.first != " ", name)
    precondition(name.unicodeScalars.last != "." && name.unicodeScalars.last != " ", name)
  }
}
