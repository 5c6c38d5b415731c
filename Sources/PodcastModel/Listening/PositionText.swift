/// Positions in an episode as attributes and commands have them.
package enum PositionText {
  /// - Returns: milliseconds for `751.2`, `12:31`, `1:02:03` and `0`; nil for anything else and for more than 100 days.
  package static func milliseconds(_ text: String) -> Int64? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard (1...3).contains(parts.count), let last = parts.last else { return nil }
    let pieces = last.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(pieces.count), case let decimals = pieces.count == 2 ? pieces[1] : "0",
      decimals.prefix(9).wholeNumber != nil,
      let thousandths = (decimals.prefix(9) + "000").prefix(3).wholeNumber
    else { return nil }
    var seconds: Int64 = 0
    for (place, part) in (parts.dropLast() + [pieces[0]]).enumerated() {
      guard let value = part.wholeNumber, value < 1_000_000_000, place == 0 || value < 60 else { return nil }
      seconds = seconds * 60 + value
    }
    return seconds <= 8_640_000 ? seconds * 1000 + thousandths : nil
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
}
