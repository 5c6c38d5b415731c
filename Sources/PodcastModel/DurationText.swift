/// Reads durations as `itunes:duration` has them.
package enum DurationText {
  /// - Returns: whole seconds for `H:MM:SS`, `MM:SS` or seconds (a fraction is cut off); nil for anything
  ///   else, for nothing at all and for more than 100 days.
  package static func seconds(_ text: String) -> Int? {
    var text = text
    return text.withUTF8 { seconds($0) }
  }

  /// - Returns: as above.
  package static func seconds(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    var total = 0
    var part = 0
    var colons = 0
    var hasDigit = false
    var isFraction = false
    var hasEnded = false
    for byte in bytes {
      switch byte {
      case 48...57:
        if hasEnded { return nil }
        hasDigit = true
        if !isFraction { part = part * 10 + Int(byte - 48) }
        if part > 8_640_000 { return nil }
      case UInt8(ascii: ":"):
        colons += 1
        if hasEnded || isFraction || colons > 2 { return nil }
        total = (total + part) * 60
        part = 0
      case UInt8(ascii: "."), UInt8(ascii: ","):
        if hasEnded || isFraction { return nil }
        isFraction = true
      case 0...0x20: hasEnded = hasDigit
      default: return nil
      }
    }
    total += part
    return hasDigit && total <= 8_640_000 ? total : nil
  }
}
