internal import Glibc

package struct HostAddress: Hashable, Sendable {
  /// 4 or 16 bytes in network order.
  package let bytes: [UInt8]

  package init(bytes: [UInt8]) { self.bytes = bytes }

  /// Reads an address in its usual text form, IPv6 without brackets, a zone (`%eth0`) left out of account.
  package init?(_ text: String) {
    var bytes = [UInt8](repeating: 0, count: 16)
    if inet_pton(AF_INET, text, &bytes) == 1 {
      self.bytes = Array(bytes[..<4])
      return
    }
    guard inet_pton(AF_INET6, String(text.prefix { $0 != "%" }), &bytes) == 1 else { return nil }
    self.bytes = bytes
  }

  /// Unspecified, loopback, private, shared (CGNAT), link-local, multicast or reserved, also inside an IPv6 form that
  /// carries an IPv4 address (RFC 6890, RFC 4193, RFC 4291, RFC 6052, RFC 3056).
  package var isPrivate: Bool {
    if bytes.count == 4 { return Self.isPrivate(v4: bytes[...]) }
    guard bytes.count == 16 else { return true }
    if bytes[..<10].allSatisfy({ $0 == 0 }) {
      // ::ffff:a.b.c.d, and ::a.b.c.d with :: and ::1 among it.
      let isMapped = bytes[10] == 0xff && bytes[11] == 0xff
      let isCompatible = bytes[10] == 0 && bytes[11] == 0
      if isMapped || isCompatible { return Self.isPrivate(v4: bytes[12...]) }
    }
    // ::ffff:0:a.b.c.d, translated (RFC 2765).
    if bytes[..<12] == [0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0] { return Self.isPrivate(v4: bytes[12...]) }
    if bytes.starts(with: [0x00, 0x64, 0xff, 0x9b]) {
      // NAT64: the well-known prefix carries an IPv4 address, 64:ff9b:1::/48 is for local use (RFC 8215).
      return bytes[4..<12].contains { $0 != 0 } || Self.isPrivate(v4: bytes[12...])
    }
    if bytes.starts(with: [0x20, 0x02]) { return Self.isPrivate(v4: bytes[2..<6]) }
    switch (bytes[0], bytes[1]) {
    case (0xfc...0xfd, _), (0xff, _): return true
    case (0xfe, 0x80...0xff): return true
    default: return false
    }
  }

  private static func isPrivate(v4: ArraySlice<UInt8>) -> Bool {
    let (a, b, c) = (v4[v4.startIndex], v4[v4.startIndex + 1], v4[v4.startIndex + 2])
    return switch (a, b, c) {
    case (0, _, _), (10, _, _), (127, _, _), (224...255, _, _): true
    case (100, 64...127, _), (169, 254, _), (172, 16...31, _), (192, 168, _), (192, 0, 0): true
    default: false
    }
  }
}
