internal import PodcastModel

/// Addresses as feeds write them, made fit for a request (RFC 3986).
enum FeedAddress {
  /// In bytes: servers need not take longer ones (RFC 9110 §4.1).
  static let longest = 8000

  /// - Parameters:
  ///   - text: the address; white space around it and line breaks in it do not count.
  ///   - base: what a relative one starts from.
  /// - Returns: an absolute http or https address in ASCII but for its host, or nil.
  static func absolute(_ text: String, base: String?) -> String? {
    var text = text
    return text.withUTF8 { absolute($0, base: base) }
  }

  /// The same for the bytes of an address.
  static func absolute(_ bytes: UnsafeBufferPointer<UInt8>, base: @autoclosure () -> String?) -> String? {
    let trimmed = FeedText.trimmed(bytes)
    guard trimmed.count <= longest else { return nil }
    if isPlain(trimmed) { return FeedText.string(trimmed) }
    return resolved(trimmed, base: base())
  }

  private static func resolved(_ text: UnsafeBufferPointer<UInt8>, base: String?) -> String? {
    let reference = escaped(text)
    guard let first = reference.utf8.first else { return nil }
    if let scheme = scheme(of: reference) {
      guard scheme == "http" || scheme == "https" else { return nil }
      let rest = Substring(reference.utf8.dropFirst(scheme.utf8.count + 1))
      // "http:https://h/" and "http:/h/", as some write it.
      let lower = rest.lowercased()
      if lower.hasPrefix("http:") || lower.hasPrefix("https:") { return absolute(String(rest), base: nil) }
      let place = rest.drop { $0 == "/" }
      guard rest.hasPrefix("/"), !rest.hasPrefix("///"), hasHost(place.utf8) else { return nil }
      return scheme + "://" + place
    }
    guard let base, let root = absolute(base, base: nil) else { return nil }
    if reference.hasPrefix("//") {
      return absolute(String(root.prefix { $0 != ":" }) + ":" + reference, base: nil)
    }
    guard let parts = AddressParts(root) else { return nil }
    let (authority, path) = (root[..<parts.target.startIndex], parts.path)
    switch first {
    case UInt8(ascii: "/"): return authority + withoutDots(reference)
    case UInt8(ascii: "?"): return authority + path + reference
    case UInt8(ascii: "#"): return root[..<parts.fragment.startIndex] + reference
    default:
      let end = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
      let merged = path[..<end] + reference
      return authority + withoutDots(merged.hasPrefix("/") ? String(merged) : "/" + merged)
    }
  }

  /// Whether it is what most addresses are: http or https, with nothing in it that needs escaping.
  private static func isPlain(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard bytes.count > 8, bytes[0] == UInt8(ascii: "h"), bytes[1] == UInt8(ascii: "t"),
      bytes[2] == UInt8(ascii: "t"), bytes[3] == UInt8(ascii: "p")
    else { return false }
    let colon = bytes[4] == UInt8(ascii: "s") ? 5 : 4
    guard bytes[colon] == UInt8(ascii: ":"), bytes[colon + 1] == UInt8(ascii: "/"),
      bytes[colon + 2] == UInt8(ascii: "/")
    else { return false }
    for index in colon + 3..<bytes.count where !isPlainByte(bytes[index]) { return false }
    return hasHost(UnsafeBufferPointer(rebasing: bytes[(colon + 3)...]))
  }

  private static func isPlainByte(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7F && !isUnsafe(byte) }

  /// Whether what follows "//" begins with a host, and a port that is a number where there is one.
  private static func hasHost(_ rest: some Sequence<UInt8>) -> Bool {
    var hostCount = 0
    var isPort = false
    var isBracketed = false
    var isGood = true
    scan: for byte in rest {
      switch byte {
      case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): break scan
      // What came was the userinfo.
      case UInt8(ascii: "@"): (hostCount, isPort, isGood) = (0, false, true)
      case UInt8(ascii: "["): isBracketed = true
      case UInt8(ascii: "]"): isBracketed = false
      case UInt8(ascii: ":") where !isBracketed:
        if isPort { isGood = false }
        isPort = true
      case UInt8(ascii: "%"): isGood = false
      default:
        if isPort { isGood = isGood && byte >= 48 && byte <= 57 } else { hostCount += 1 }
      }
    }
    return hostCount > 0 && !isBracketed && isGood
  }

  private static func isUnsafe(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
      UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
      true
    default: false
    }
  }

  /// Trimmed, without controls, and with everything percent-encoded that no address may hold.
  private static func escaped(_ text: UnsafeBufferPointer<UInt8>) -> String {
    let trimmed = Array(text)
    let hostRange = hostRange(trimmed)
    var output: [UInt8] = []
    output.reserveCapacity(trimmed.count + 16)
    for (index, byte) in trimmed.enumerated() {
      if byte < 0x20 || byte == 0x7F { continue }
      if byte == 0x20 || isUnsafe(byte) || byte >= 0x80 && !hostRange.contains(index) {
        PercentEncoding.append(byte, to: &output)
      } else {
        output.append(byte)
      }
    }
    return String(decoding: output, as: UTF8.self)
  }

  /// Where the host stands, which has its own way to be international.
  private static func hostRange(_ bytes: [UInt8]) -> Range<Int> {
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[(colon + 1)...].starts(with: "//".utf8)
    else {
      return 0..<0
    }
    let start = colon + 3
    let end = bytes[start...].firstIndex {
      [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0)
    }
    return start..<(end ?? bytes.count)
  }

  /// The scheme in lower case; nil for a relative address.
  private static func scheme(of text: String) -> String? {
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let name = text[..<colon]
    guard let first = name.utf8.first, HTMLReader.isLetter(first) else { return nil }
    let isScheme = name.utf8.allSatisfy { byte in
      HTMLReader.isName(byte) && byte != UInt8(ascii: "_") || byte == UInt8(ascii: "+")
    }
    return isScheme ? name.lowercased() : nil
  }

  /// RFC 3986 §5.2.4, for a path that begins with "/"; query and fragment stay.
  private static func withoutDots(_ text: String) -> String {
    let pathEnd = text.firstIndex { $0 == "?" || $0 == "#" } ?? text.endIndex
    var segments: [Substring] = []
    let parts = text[..<pathEnd].dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    for (index, part) in parts.enumerated() {
      let isLast = index == parts.count - 1
      switch part {
      case ".": if isLast { segments.append("") }
      case "..":
        if !segments.isEmpty { segments.removeLast() }
        if isLast { segments.append("") }
      default: segments.append(part)
      }
    }
    return "/" + segments.joined(separator: "/") + text[pathEnd...]
  }
}
