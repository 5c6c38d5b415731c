internal import PosixKit

/// Reads the values of options. Each error names the key, the value and a correct form.
enum SettingValue {
  static func number(_ key: String, _ text: String, _ range: ClosedRange<Int>) throws(SettingsError) -> Int {
    guard text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(text), range.contains(number)
    else {
      throw bad(key, text, "a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

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

  static func flag(_ key: String, _ text: String) throws(SettingsError) -> Bool {
    switch text.lowercased() {
    case "on", "yes", "true", "1": return true
    case "off", "no", "false", "0": return false
    default: throw bad(key, text, "on or off")
    }
  }

  static func choice<Choice: RawRepresentable & CaseIterable>(
    _ key: String, _ text: String, _ type: Choice.Type
  ) throws(SettingsError) -> Choice where Choice.RawValue == String {
    guard let choice = Choice(rawValue: text) else {
      throw bad(key, text, Choice.allCases.map(\.rawValue).joined(separator: ", "))
    }
    return choice
  }

  static func address(_ key: String, _ text: String) throws(SettingsError) -> String {
    let rest = ["http://", "https://"].first { text.hasPrefix($0) }.map { text.dropFirst($0.count) }
    guard let host = rest?.first, host != "/", !text.contains(where: \.isWhitespace) else {
      throw bad(key, text, "an address that begins with http:// or https://")
    }
    return text
  }

  static func line(_ key: String, _ text: String) throws(SettingsError) -> String {
    guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 32 && $0 != 127 }) else {
      throw bad(key, text, "text on one line")
    }
    return text
  }

  /// Two letters (ISO 3166-1).
  static func country(_ key: String, _ text: String) throws(SettingsError) -> String {
    let code = text.lowercased()
    guard code.utf8.count == 2, code.utf8.allSatisfy({ (97...122).contains($0) }) else {
      throw bad(key, text, "a country's two letters, like us or de")
    }
    return code
  }

  /// As libcurl takes it: the scheme may be missing.
  static func proxy(_ key: String, _ text: String) throws(SettingsError) -> String {
    if text.isEmpty { return text }
    let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
    let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
    let place = parts[parts.count - 1].split(separator: "/", omittingEmptySubsequences: false)[0]
    // Behind the password, which may have an "@".
    let host = place.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
    let colon = host.hasSuffix("]") ? nil : host.lastIndex(of: ":")
    let port = colon.map { host[host.index(after: $0)...] }
    let isHost = !host[..<(colon ?? host.endIndex)].isEmpty && !text.contains { $0.isWhitespace }
    let isPort = port.map { UInt16($0) ?? 0 > 0 } ?? true
    if parts.count == 2 && !schemes.contains(parts[0].lowercased()) || !isHost || !isPort {
      // It may hold a password.
      throw SettingsError("\(key) is not valid: it takes http://HOST:PORT or socks5://HOST:PORT")
    }
    return text
  }

  /// Bytes per second; nil for no bound.
  static func rate(_ key: String, _ text: String) throws(SettingsError) -> Int64? {
    let rate = text == "none" ? 0 : try size(key, text)
    return rate == 0 ? nil : rate
  }

  /// `on_battery`: the charge in percent below which downloads wait.
  static func charge(_ key: String, _ text: String) throws(SettingsError) -> Int {
    switch text {
    case "go": return 0
    case "wait": return 101
    default:
      guard text.hasPrefix("wait:"), let charge = Int(text.dropFirst(5)), (1...100).contains(charge) else {
        throw bad(key, text, "go, wait, or wait:30 for a charge in percent")
      }
      return charge
    }
  }

  /// `22:00-06:00`; nil for always.
  static func hours(_ key: String, _ text: String) throws(SettingsError) -> DailyHours? {
    if text.isEmpty || text == "none" { return nil }
    let minutes = text.split(separator: "-", omittingEmptySubsequences: false).map { time -> Int? in
      let parts = time.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count == 2, (1...2).contains(parts[0].utf8.count), parts[1].utf8.count == 2,
        parts.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }),
        let hour = Int(parts[0]), let minute = Int(parts[1]), hour < 24 || hour == 24 && minute == 0,
        minute < 60
      else { return nil }
      return hour % 24 * 60 + minute
    }
    guard minutes.count == 2, let start = minutes[0], let end = minutes[1], start != end else {
      throw bad(key, text, "hours of the day, like 22:00-06:00")
    }
    return DailyHours(start: start, end: end)
  }

  /// Seconds between refreshes.
  static func refresh(_ key: String, _ text: String) throws(SettingsError) -> Int {
    max(try number(key, text, 0...Int(Int32.max)), 900)
  }

  /// Days: "30d"; nil for "off".
  static func days(_ key: String, _ text: String) throws(SettingsError) -> Int? {
    if text == "off" { return nil }
    let digits = text.dropLast()
    guard text.last == "d", (1...4).contains(digits.utf8.count),
      digits.utf8.allSatisfy({ (48...57).contains($0) }),
      let days = Int(digits), days > 0
    else { throw bad(key, text, "off, or days like 30d") }
    return days
  }

  static func names(_ text: String) -> [String] { text.split(separator: ":").map(String.init) }

  static func sidecars(_ key: String, _ text: String) throws(SettingsError) -> Set<Settings.Sidecar> {
    var sidecars: Set<Settings.Sidecar> = []
    for name in names(text) where name != "none" {
      sidecars.insert(try choice(key, name, Settings.Sidecar.self))
    }
    return sidecars
  }

  static func bad(_ key: String, _ text: String, _ wanted: String) -> SettingsError {
    SettingsError("\(key)=\(text) is not valid: it takes \(wanted)")
  }

  private static func decimal(_ text: String) -> Double? {
    guard let first = text.utf8.first, (48...57).contains(first),
      text.utf8.allSatisfy({ (48...57).contains($0) || $0 == UInt8(ascii: ".") })
    else { return nil }
    return Double(text)
  }
}

/// An option or a line of the configuration file that cannot be used: one line that says which and why.
package struct SettingsError: Error, Hashable, Sendable, CustomStringConvertible {
  package var description: String

  package init(_ description: String) { self.description = description }

  /// With where it stands: "FILE:LINE: …".
  func at(_ place: String) -> SettingsError { SettingsError("\(place): \(description)") }
}
