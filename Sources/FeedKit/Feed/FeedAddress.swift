internal import PodcastModel

/// Addresses as feeds write them, made fit for a request (RFC 3986).
enum FeedAddress {
  typealias Bytes = UnsafeBufferPointer<UInt8>

  /// In bytes: servers need not take longer ones (RFC 9110 §4.1).
  static let longest = 8000

  /// - Parameters:
  ///   - text: the address; white space around it and line breaks in it do not count.
  ///   - base: what a relative one starts from.
  /// - Returns: an absolute http or https address in ASCII but for its host, or nil.
  static func absolute(_ text: String, base: WebAddress? = nil) -> WebAddress? {
    var text = text
    return text.withUTF8 { absolute($0, base: base) }
  }

  static func absolute(_ bytes: Bytes, base: @autoclosure () -> WebAddress? = nil) -> WebAddress? {
    let trimmed = FeedText.trimmed(bytes)
    guard trimmed.count <= longest else { return nil }
    return isPlain(trimmed) ? WebAddress(FeedText.string(trimmed)) : resolved(escaped(trimmed), base: base())
  }

  private static func resolved(_ reference: String, base: WebAddress?) -> WebAddress? {
    guard let first = reference.first else { return nil }
    if let scheme = scheme(of: reference) {
      guard scheme == "http" || scheme == "https" else { return nil }
      let rest = Substring(reference.utf8.dropFirst(scheme.utf8.count + 1))
      // "http:https://h/" and "http:/h/", as some write it.
      let lower = rest.lowercased()
      if lower.hasPrefix("http:") || lower.hasPrefix("https:") { return absolute(String(rest)) }
      let place = rest.drop { $0 == "/" }
      guard rest.hasPrefix("/"), !rest.hasPrefix("///"), hasHost(place.utf8) else { return nil }
      return WebAddress(scheme + "://" + place)
    }
    guard let root = base.flatMap({ absolute($0.forRequest) })?.forRequest, let parts = AddressParts(root)
    else { return nil }
    if reference.hasPrefix("//") { return absolute("\(parts.scheme):\(reference)") }
    let (authority, path) = (root[..<parts.target.startIndex], parts.path)
    let directory = path.lastIndex(of: "/").map { path[...$0] } ?? "/"
    let target =
      switch first {
      case "/": withoutDots(reference)
      case "?": "\(path)\(reference)"
      case "#": "\(root[parts.target.startIndex..<parts.fragment.startIndex])\(reference)"
      default: withoutDots("\(directory)\(reference)")
      }
    return WebAddress(authority + target)
  }

  /// Whether it is what most addresses are: http or https, with nothing in it that needs escaping.
  private static func isPlain(_ bytes: Bytes) -> Bool {
    let isSecure = bytes.starts(with: "https://".utf8)
    guard isSecure || bytes.starts(with: "http://".utf8) else { return false }
    let rest = Bytes(rebasing: bytes[(isSecure ? 8 : 7)...])
    for byte in rest where byte <= 0x20 || byte >= 0x7F || isUnsafe(byte) { return false }
    return hasHost(rest)
  }

  /// Whether what follows "//" begins with a host, and a port of at most 65535 where there is one.
  private static func hasHost(_ rest: some Sequence<UInt8>) -> Bool {
    var hostCount = 0
    var (port, isBracketed, isBehindBracket, isGood) = (Int?.none, false, false, true)
    scan: for byte in rest {
      switch byte {
      case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): break scan
      // What came was the userinfo.
      case UInt8(ascii: "@"): (hostCount, port, isBehindBracket, isGood) = (0, nil, false, true)
      case UInt8(ascii: "["): isBracketed = true
      case UInt8(ascii: "]"): (isBracketed, isBehindBracket) = (false, true)
      case UInt8(ascii: ":") where !isBracketed: (isGood, port) = (isGood && port == nil, port ?? 0)
      case UInt8(ascii: "%"): isGood = false
      case 48...57 where port != nil: port = port.map { min($0 * 10 + Int(byte) - 48, 1 << 16) }
      default: (hostCount, isGood) = (hostCount + 1, isGood && port == nil && !isBehindBracket)
      }
    }
    return hostCount > 0 && !isBracketed && isGood && port ?? 1 < 1 << 16
  }

  /// `" < > \ ^ ` { | }`
  private static func isUnsafe(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x22, 0x3C, 0x3E, 0x5C, 0x5E, 0x60, 0x7B...0x7D: true
    default: false
    }
  }

  /// Without controls, and with everything percent-encoded that no address may hold. The host, between "://" and the next
  /// of "/?#", has its own way to be international.
  private static func escaped(_ text: Bytes) -> String {
    var output: [UInt8] = []
    output.reserveCapacity(text.count + 16)
    let start = text.firstIndex(of: UInt8(ascii: ":")).map { $0 + 3 } ?? .max
    let hasHost = start <= text.count && text[(start - 2)..<start].elementsEqual("//".utf8)
    let host = hasHost ? text[start...].prefix { !"/?#".utf8.contains($0) }.indices : 0..<0
    for (index, byte) in text.enumerated() where byte >= 0x20 && byte != 0x7F {
      if byte == 0x20 || isUnsafe(byte) || byte >= 0x80 && !host.contains(index) {
        PercentEncoding.append(byte, to: &output)
      } else {
        output.append(byte)
      }
    }
    return String(decoding: output, as: UTF8.self)
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
    let path = text.prefix { $0 != "?" && $0 != "#" }
    var segments: [Substring] = []
    let parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    for (index, part) in parts.enumerated() {
      if part != "." && part != ".." {
        segments.append(part)
        continue
      }
      if part == "..", !segments.isEmpty { segments.removeLast() }
      if index == parts.count - 1 { segments.append("") }
    }
    return "/" + segments.joined(separator: "/") + text[path.endIndex...]
  }
}
