/// What random tokens look like beside the words and numbers that people put into addresses.
enum TokenShape {
  /// Shorter tokens look like words.
  private static let shortest = 12
  private static let shortestOfThreeKinds = 16

  /// Whether a segment of a path is a UUID, or holds a run of letters and digits that changes between small
  /// letters, capitals and digits as only chance does: every fourth time or more. (Base 62 and hexadecimal do at
  /// every second; "BBC6MusicFavourites2024" at every fifth.) In a long run of all three kinds, two numbers of which
  /// a small letter follows one are enough: words begin with a capital.
  static func matches(_ segment: Substring) -> Bool {
    isUUID(segment) || segment.utf8.split(whereSeparator: { kind(of: $0) == nil }).contains(where: isRandom)
  }

  private enum Kind { case digit, small, capital }

  private static func kind(of byte: UInt8) -> Kind? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): .digit
    case UInt8(ascii: "a")...UInt8(ascii: "z"): .small
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): .capital
    default: nil
    }
  }

  private static func isRandom(_ run: Substring.UTF8View.SubSequence) -> Bool {
    guard run.count >= shortest else { return false }
    let kinds = run.map(kind)
    // From a capital to a small letter is how words begin.
    let changes = zip(kinds, kinds.dropFirst()).count { $0 != $1 && !($0 == .capital && $1 == .small) }
    if changes * 4 >= run.count - 1 { return true }
    let steps = zip(kinds, kinds.dropFirst())
    return run.count >= shortestOfThreeKinds && kinds.contains(.capital)
      && steps.contains { $0 == .digit && $1 == .small }
      && run.split(whereSeparator: { kind(of: $0) != .digit }).count > 1
  }

  /// 8-4-4-4-12 hexadecimal digits (RFC 9562 §4), with whatever ending.
  private static func isUUID(_ segment: Substring) -> Bool {
    let groups = segment.utf8.prefix(36).split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    return groups.map(\.count) == [8, 4, 4, 4, 12]
      && groups.joined().allSatisfy { Hexadecimal.value($0) != nil }
  }
}
