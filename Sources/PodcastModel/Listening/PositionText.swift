/// Positions in an episode as attributes and commands have them.
package enum PositionText {
  /// - Returns: milliseconds for `751.2`, `12:31`, `1:02:03` and `0`; nil for anything else and for more than 100 days.
  package static func milliseconds(_ text: String) -> Int64? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard (1...3).contains(parts.count), let last = parts.last else { return nil }
    let pieces = last.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(pieces.count), let seconds = number(pieces[0]) else { return nil }
    var whole: Int64 = 0
    for (place, part) in parts.dropLast().enumerated() {
      guard let value = number(part), place == 0 || value < 60 else { return nil }
      whole = whole * 60 + value
    }
    if parts.count > 1 && seconds >= 60 { return nil }
    whole = whole * 60 + seconds
    var thousandths: Int64 = 0
    if pieces.count == 2 {
      guard !pieces[1].isEmpty, number(pieces[1].prefix(9)) != nil else { return nil }
      thousandths =
        number(pieces[1].prefix(3) + String(repeating: "0", count: max(0, 3 - pieces[1].count))) ?? 0
    }
    return whole <= 8_640_000 ? whole * 1000 + thousandths : nil
  }

  /// Seconds with as many decimals as there are: "751.2", "751".
  package static func seconds(_ milliseconds: Int64) -> String {
    let (whole, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
    if rest == 0 { return String(whole) }
    var decimals = CivilTime.padded(Int(rest), 3)
    while decimals.last == "0" { decimals.removeLast() }
    return "\(whole).\(decimals)"
  }

  /// For people: "12:31", "1:02:03".
  package static func clock(_ milliseconds: Int64) -> String {
    let seconds = Int(milliseconds / 1000)
    let minutes = seconds / 60 % 60
    let end = ":" + CivilTime.padded(seconds % 60, 2)
    return seconds < 3600 ? "\(minutes)\(end)" : "\(seconds / 3600):\(CivilTime.padded(minutes, 2))\(end)"
  }

  private static func number(_ digits: some StringProtocol) -> Int64? {
    guard (1...9).contains(digits.utf8.count), digits.utf8.allSatisfy({ (48...57).contains($0) }) else {
      return nil
    }
    return Int64(digits)
  }
}
