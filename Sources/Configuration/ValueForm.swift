internal import PosixKit

struct ValueForm<Value: Sendable>: Sendable {
  /// A correct form, for errors: "a size like 500M or 10G".
  let words: String
  /// Whether an error must not show the text: it may hold a password.
  let isSecret: Bool
  /// Nil where the text has another form.
  let read: @Sendable (String) -> Value?

  init(_ words: String, isSecret: Bool = false, _ read: @escaping @Sendable (String) -> Value?) {
    (self.words, self.isSecret, self.read) = (words, isSecret, read)
  }
}

enum Form {
  static func choice<Choice: CaseIterable & RawRepresentable<String> & Sendable>(
    _ type: Choice.Type
  ) -> ValueForm<Choice> {
    ValueForm(Choice.allCases.map(\.rawValue).joined(separator: ", ")) { Choice(rawValue: $0) }
  }

  static func number(_ range: ClosedRange<Int>) -> ValueForm<Int> {
    ValueForm("a number from \(range.lowerBound) to \(range.upperBound)") { text in
      text.isDigits ? Int(text).flatMap { range.contains($0) ? $0 : nil } : nil
    }
  }

  /// Seconds between refreshes.
  static let refresh = ValueForm<Int>("a number from 0 to \(Int32.max)") { text in
    number(0...Int(Int32.max)).read(text).map { max($0, 900) }
  }

  /// `on_battery`: the charge in percent below which downloads wait.
  static let charge = ValueForm<Int>("go, wait, or wait:30 for a charge in percent") { text in
    switch text {
    case "go": 0
    case "wait": 101
    default: text.hasPrefix("wait:") ? number(1...100).read(String(text.dropFirst(5))) : nil
    }
  }

  /// Days: "30d"; nil for "off".
  static let days = ValueForm<Int?>("off, or days like 30d") { text in
    if text == "off" { return .some(nil) }
    guard text.last == "d", let count = number(1...9999).read(String(text.dropLast())) else { return nil }
    return count
  }

  static let user = ValueForm<UInt32>("a user's name or number") { UInt32($0) ?? Account($0)?.user }
  static let group = ValueForm<UInt32>("a group's name or number") { UInt32($0) ?? Account.group($0) }
  static let permissions = ValueForm<UInt32>("permissions in octal, like 022") { text in
    UInt32(text, radix: 8).flatMap { $0 <= 0o777 ? $0 : nil }
  }

  static let seconds = ValueForm<Double>("seconds from 0.1 to 86400") { text in
    text.decimal.flatMap { $0 > 0 && $0 <= 86_400 ? max($0, 0.1) : nil }
  }

  /// Bytes: a number with K, M, G or T for powers of 1024 behind it.
  static let size = ValueForm<Int64>("a size like 500M or 10G") { text in
    let units = Array("KMGT")
    let unit = text.last.flatMap { units.firstIndex(of: Character($0.uppercased())) }
    let factor = Double(1 << (unit.map { 10 * ($0 + 1) } ?? 0))
    guard let number = String(unit == nil ? text[...] : text.dropLast()).decimal,
      number * factor <= Double(1 << 60)
    else { return nil }
    return Int64((number * factor).rounded())
  }

  /// Bytes per second; nil for no bound.
  static let rate = ValueForm<Int64?>(size.words) { text in
    text == "none" ? .some(nil) : size.read(text).map { $0 == 0 ? nil : $0 }
  }

  static let flag = ValueForm<Bool>("on or off") { text in
    [
      "on": true, "yes": true, "true": true, "1": true, "off": false, "no": false, "false": false, "0": false,
    ][
      text.lowercased()]
  }

  static let rests = ValueForm<Bool>("wait, go") { ["wait": true, "go": false][$0] }

  /// `22:00-06:00`; nil for always.
  static let hours = ValueForm<DailyHours?>("hours of the day, like 22:00-06:00") { text in
    if text.isEmpty || text == "none" { return .some(nil) }
    let times = text.split(separator: "-", omittingEmptySubsequences: false).map(minutes)
    guard times.count == 2, let start = times[0], let end = times[1], start != end else { return nil }
    return DailyHours(start: start, end: end)
  }

  /// The minutes of the day at "22:00"; 24:00 is 0:00.
  private static func minutes(_ time: Substring) -> Int? {
    let parts = time.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, (1...2).contains(parts[0].utf8.count), parts[1].utf8.count == 2,
      let hour = number(0...24).read(parts[0]), let minute = number(0...59).read(parts[1]),
      hour < 24 || minute == 0
    else { return nil }
    return hour % 24 * 60 + minute
  }

  static let line = ValueForm<String>("text on one line") { $0.isLine ? $0 : nil }
  static let secret = ValueForm<String>("text on one line", isSecret: true, line.read)
  static let lineOrNone = ValueForm<String?>(line.words) { text in
    text.isEmpty ? .some(nil) : line.read(text).map { .some($0) }
  }
  static let names = ValueForm<[String]>("names") { $0.split(separator: ":").map(String.init) }

  static let address = ValueForm<String>("an address that begins with http:// or https://") { text in
    let rest = ["http://", "https://"].first { text.hasPrefix($0) }.map { text.dropFirst($0.count) }
    return rest?.first.map { $0 != "/" } ?? false && !text.contains(where: \.isWhitespace) ? text : nil
  }

  /// ISO 3166-1.
  static let country = ValueForm<String>("a country's two letters, like us or de") { text in
    let code = text.lowercased()
    return code.utf8.count == 2 && code.utf8.allSatisfy { (97...122).contains($0) } ? code : nil
  }

  /// As libcurl takes it; the scheme may be missing where there is a port.
  static let proxy = ValueForm<String>("http://HOST:PORT or socks5://HOST:PORT", isSecret: true) { text in
    if text.isEmpty { return text }
    let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
    let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
    let place = parts[parts.count - 1].split(separator: "/", omittingEmptySubsequences: false)[0]
    // Behind the password, which may have an "@".
    let host = place.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
    let colon = host.hasSuffix("]") ? nil : host.lastIndex(of: ":")
    let port = colon.map { UInt16(host[host.index(after: $0)...]) ?? 0 }
    let isKind = parts.count == 2 ? schemes.contains(parts[0].lowercased()) : port != nil
    let hasHost = !host[..<(colon ?? host.endIndex)].isEmpty && !text.contains { $0.isWhitespace }
    return isKind && hasHost && port != 0 ? text : nil
  }

  static let device = ValueForm<String>("letters, digits, and the characters _ . -") { text in
    let isName = text.utf8.allSatisfy { byte in
      (48...57).contains(byte) || (65...90).contains(byte & 0xDF) || "_.-".utf8.contains(byte)
    }
    return isName && !text.isEmpty ? text : nil
  }

  static let sidecars = ValueForm<Set<Settings.Sidecar>>(choice(Settings.Sidecar.self).words) { text in
    let names = text.split(separator: ":").filter { $0 != "none" }
    let known = names.compactMap { Settings.Sidecar(rawValue: String($0)) }
    return known.count == names.count ? Set(known) : nil
  }
}

extension String {
  fileprivate var isDigits: Bool { utf8.allSatisfy { (48...57).contains($0) } }
  fileprivate var isLine: Bool { !isEmpty && utf8.allSatisfy { $0 >= 32 && $0 != 127 } }
  fileprivate var decimal: Double? {
    first?.isNumber == true && utf8.allSatisfy { (48...57).contains($0) || $0 == UInt8(ascii: ".") }
      ? Double(self) : nil
  }
}

/// An option or a line of the configuration file that cannot be used: one line that says which and why.
package struct SettingsError: Error, Hashable, Sendable, CustomStringConvertible {
  package var description: String
  package init(_ description: String) { self.description = description }

  /// With where it stands: "FILE:LINE: …".
  func at(_ place: String) -> SettingsError { SettingsError("\(place): \(description)") }
}
