/// Reads the values of options; each error names the key, the value and what would do.
enum SettingValue {
  /// Decimal digits within `range`.
  static func number(_ key: String, _ text: String, _ range: ClosedRange<Int>) throws(SettingsError) -> Int {
    guard text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(text), range.contains(number)
    else {
      throw bad(key, text, "a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// Seconds, with or without decimals.
  static func seconds(_ key: String, _ text: String) throws(SettingsError) -> Double {
    guard let number = decimal(text), number > 0, number <= 86_400 else {
      throw bad(key, text, "seconds from 0.1 to 86400")
    }
    return max(number, 0.1)
  }

  /// Bytes: a number with K, M, G or T for powers of 1024 behind it.
  static func size(_ key: String, _ text: String) throws(SettingsError) -> Int64 {
    var digits = Substring(text)
    var shift = 0
    if let last = digits.last, let unit = "KMGT".firstIndex(of: Character(last.uppercased())) {
      shift = 10 * ("KMGT".distance(from: "KMGT".startIndex, to: unit) + 1)
      digits = digits.dropLast()
    }
    let most = Double(1 << 60)
    guard let number = decimal(String(digits)), number * Double(1 << shift) <= most else {
      throw bad(key, text, "a size like 500M or 10G")
    }
    return Int64((number * Double(1 << shift)).rounded())
  }

  /// On or off; without a value on.
  static func flag(_ key: String, _ text: String?) throws(SettingsError) -> Bool {
    switch text?.lowercased() {
    case nil, "on", "yes", "true", "1": return true
    case "off", "no", "false", "0": return false
    default: throw bad(key, text ?? "", "on or off")
    }
  }

  /// One of an enumeration's raw values.
  static func choice<Choice: RawRepresentable & CaseIterable>(
    _ key: String, _ text: String, _ type: Choice.Type
  ) throws(SettingsError) -> Choice where Choice.RawValue == String {
    guard let choice = Choice(rawValue: text) else {
      throw bad(key, text, Choice.allCases.map(\.rawValue).joined(separator: ", "))
    }
    return choice
  }

  /// An http or https address.
  static func address(_ key: String, _ text: String) throws(SettingsError) -> String {
    let rest = ["http://", "https://"].first { text.hasPrefix($0) }.map { text.dropFirst($0.count) }
    guard let host = rest?.first, host != "/", !text.contains(where: \.isWhitespace) else {
      throw bad(key, text, "an address that begins with http:// or https://")
    }
    return text
  }

  /// Text without control characters, not empty.
  static func line(_ key: String, _ text: String) throws(SettingsError) -> String {
    guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 32 && $0 != 127 }) else {
      throw bad(key, text, "text on one line")
    }
    return text
  }

  static func bad(_ key: String, _ text: String, _ wanted: String) -> SettingsError {
    SettingsError("\(key)=\(text) cannot be used: it takes \(wanted)")
  }

  private static func decimal(_ text: String) -> Double? {
    guard let first = text.utf8.first, (48...57).contains(first),
      text.utf8.allSatisfy({ (48...57).contains($0) || $0 == UInt8(ascii: ".") })
    else { return nil }
    return Double(text)
  }
}
