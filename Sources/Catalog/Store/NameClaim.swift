internal import PodcastModel

/// Names that must be unique among more rows than one would read.
enum NameClaim {
  /// `name`, or one of "name (2)", "name (3)", … that is not taken: the first, where none before it is free.
  /// Looks at few of them, however many are taken.
  static func free(_ name: String, isTaken: (String) throws -> Bool) rethrows -> String {
    if try !isTaken(name) { return name }
    var taken = 1
    var free = 2
    while try isTaken(EpisodeName.numbered(name, free)) {
      taken = free
      free *= 2
    }
    while free - taken > 1 {
      let middle = (taken + free) / 2
      if try isTaken(EpisodeName.numbered(name, middle)) { taken = middle } else { free = middle }
    }
    return EpisodeName.numbered(name, free)
  }
}
