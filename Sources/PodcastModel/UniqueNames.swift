/// The names that are taken in one directory, compared without regard to case and normalization, as Windows,
/// Samba and macOS compare them.
package struct UniqueNames: Sendable {
  private var taken: Set<String> = []
  /// The last number given after a name, so that many equal names cost no more than different ones.
  private var lastNumbers: [String: Int] = [:]

  package init() {}
  package init(taken names: some Sequence<String>) { for name in names { insert(name) } }

  /// What two names have in common that are one name to a file system that ignores case: full case folding
  /// ("ß" and "SS"), normalization form C.
  package static func key(_ name: String) -> String {
    if name.utf8.allSatisfy({ $0 < 0x80 }) { return name.lowercased() }
    // Lower case first: "ẞ" has no upper case but the small letter's is "SS".
    return name.inNormalizationFormC.lowercased().uppercased().lowercased().inNormalizationFormC
  }

  package func contains(_ name: String) -> Bool { taken.contains(Self.key(name)) }

  /// Notes that a name is taken.
  /// - Returns: false where it was before.
  @discardableResult
  package mutating func insert(_ name: String) -> Bool { taken.insert(Self.key(name)).inserted }

  package mutating func remove(_ name: String) {
    let key = Self.key(name)
    taken.remove(key)
    lastNumbers[key] = nil
  }

  /// Takes `name`, or the first of "name (2)", "name (3)", … that is free.
  package mutating func claim(_ name: String) -> String {
    if insert(name) { return name }
    let key = Self.key(name)
    var number = lastNumbers[key, default: 1]
    while true {
      number += 1
      let candidate = EpisodeName.numbered(name, number)
      if insert(candidate) {
        lastNumbers[key] = number
        return candidate
      }
    }
  }
}
