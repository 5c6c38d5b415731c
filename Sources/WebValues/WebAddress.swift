/// An address of the web, as feeds, directories and people give it. It may hold credentials and tokens, so it is
/// no text: each use says what for (`forRequest`, `shown`). Code that would show an address by mistake does not compile.
package struct WebAddress: Hashable, Sendable {
  /// As it was given, with all that is secret in it: for requests, for the catalogue, for lists that are the
  /// user's own. Never for a name, an attribute, a message or a log.
  package let forRequest: String

  package init(_ text: String) { forRequest = text }

  /// For names, attributes, messages and logs: without userinfo (RFC 3986 §3.2.1), without the values of query
  /// fields that are secrets by their name, and without segments of the path that may be tokens.
  package var shown: String { shown(isListed: false) }

  /// The same.
  /// - Parameter isListed: whether a public directory named the feed that it is of: then what looks like a token
  ///   in its path is none, and it is shown whole but for what is a secret by its name.
  package func shown(isListed: Bool) -> String { AddressSecrets.hidden(in: forRequest, isListed: isListed) }

  /// An address of the same thing that holds no secret, for others to be told: without userinfo and secret query fields.
  /// What looks like a token in its path is none: it is the address of something public.
  /// - Returns: nil where there is none.
  package var withoutSecrets: WebAddress? { AddressSecrets.removed(from: forRequest).map { WebAddress($0) } }
}

extension WebAddress {
  /// nil where it does not begin with a scheme and `://`.
  package var parts: AddressParts? { AddressParts(forRequest) }

  /// The host in lower case, without userinfo and port, an IPv6 address without its brackets; nil where there is none.
  package var host: String? { parts?.host }

  /// The scheme in lower case, where the address begins with one and `//`.
  package var scheme: String? { parts?.scheme }

  /// Whether it may be asked for at all: http or https, with a host.
  package var isWeb: Bool { parts?.isWeb ?? false }
}

extension WebAddress {
  /// As a request has it, in ASCII: the host as DNS knows it, the userinfo in its one spelling, blanks, control
  /// characters and bytes beyond ASCII behind it percent-encoded, as browsers do and feeds expect (RFC 3986 §2.1). What
  /// is encoded already stays.
  package var encoded: String {
    guard let parts else { return forRequest }
    let user = parts.userinfo.map { PercentEncoding.userinfo($0) + "@" } ?? ""
    var path: [UInt8] = []
    for byte in parts.target.utf8 {
      if byte <= 32 || byte >= 127 { PercentEncoding.append(byte, to: &path) } else { path.append(byte) }
    }
    return forRequest[..<parts.authority.startIndex] + user + InternationalHost.ascii(parts.place)
      + String(decoding: path, as: UTF8.self)
  }
}

extension WebAddress: ExpressibleByStringInterpolation {
  package init(stringLiteral text: String) { self.init(text) }
}

// Whatever prints a value that holds an address (a test, an assertion, a debugger) shows no secret.
extension WebAddress: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { shown }
  package var debugDescription: String { shown }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension DefaultStringInterpolation {
  @available(*, unavailable, message: "say whether it is shown or asked for: .shown, .forRequest")
  package mutating func appendInterpolation(_ address: WebAddress) {}

  @available(*, unavailable, message: "say whether it is shown or asked for: .shown, .forRequest")
  package mutating func appendInterpolation(_ address: WebAddress?) {}
}
