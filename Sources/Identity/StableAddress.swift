package import PodcastModel

/// An enclosure's address without what may change while the episode stays the same: scheme, fragment, signatures, and the
/// trackers that hosts put before an address.
package enum StableAddress {
  /// Host, path and query: "media.example/1.mp3?id=7".
  /// - Parameter isWhole: with the trackers. A folder may look like a host.
  package static func text(_ address: WebAddress, isWhole: Bool = false) -> String {
    guard let parts = address.parts else { return String(address.forRequest.prefix { $0 != "#" }) }
    let segments = [parts.place] + parts.path.utf8.split(separator: UInt8(ascii: "/")).map(Substring.init)
    // "dts.podtrac.com/redirect.mp3/media.example/1.mp3": the address begins at the last host's name.
    let start = isWhole ? 0 : segments.indices.dropFirst().dropLast().last { isHost(segments[$0]) } ?? 0
    let place = ([segments[start].lowercased()] + segments[(start + 1)...].map(String.init))
      .joined(separator: "/")
    let query = (parts.query ?? "").split(separator: "&").filter { field in
      !isVolatile(field.prefix { $0 != "=" }.lowercased())
    }
    return query.isEmpty ? place : place + "?" + query.joined(separator: "&")
  }

  /// Whether the file's name has a digit before its extension, as that of one episode of many has.
  package static func numbersItsFile(_ address: WebAddress) -> Bool {
    let name =
      address.parts?.path.utf8.split(separator: UInt8(ascii: "/")).last ?? address.forRequest.utf8[...]
    let stem = name.lastIndex(of: UInt8(ascii: ".")).map { name[..<$0] } ?? name
    return stem.contains { (48...57).contains($0) }
  }

  private static func isHost(_ segment: Substring) -> Bool {
    let labels = segment.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard labels.count >= 2, let top = labels.last, (2...10).contains(top.count),
      top.allSatisfy({ (97...122).contains($0 | 0x20) }), !fileEndings.contains(Substring(top).lowercased())
    else { return false }
    return labels.allSatisfy { label in
      !label.isEmpty
        && label.allSatisfy { (97...122).contains($0 | 0x20) || (48...57).contains($0) || $0 == 45 }
    }
  }

  /// Trackers end their own names like files.
  private static let fileEndings: Set<String> = [
    "mp", "m4a", "mp3", "mp4", "ogg", "opus", "aac", "wav", "flac",
  ]

  private static func isVolatile(_ name: String) -> Bool {
    QueryField.isSignature(name) || companions.contains(name) || name.hasPrefix("utm_")
  }

  private static let companions: Set<String> = [
    "expires", "expire", "expiry", "exp", "googleaccessid", "awsaccesskeyid", "nonce",
  ]
}
