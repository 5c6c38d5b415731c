enum MarkCommand: Command {
  static let name = "mark"
  static let summary = "mark episodes as played or kept"
  static let usage = """
    podcastfs mark played|unplayed|kept|unkept PATH…

    Marks episodes as played or unplayed. The cache never evicts a kept episode; unkept removes that mark. PATH is an episode,
    or a folder or the name of a subscription: all episodes directly in it.
    """

  private static let marks: [String: (attribute: String, value: String)] = [
    "played": ("played", "1"), "unplayed": ("played", "0"), "kept": ("keep", "1"), "unkept": ("keep", "0"),
  ]

  static func run(_ arguments: inout ArgumentList) throws -> Int32 {
    let words = try arguments.paths()
    guard words.count > 1, let mark = marks[words[0]] else {
      throw UsageError("mark takes played, unplayed, kept or unkept, and paths")
    }
    return try EpisodeChange(mark.attribute, mark.value).run(Array(words.dropFirst()))
  }
}
