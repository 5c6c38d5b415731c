/// Tells login pages and hosts' error pages, which come with status 200, from audio or video.
package enum ContentKind {
  package static let decisive = 512

  /// What came instead of audio, for people; nil where it may be audio. Some hosts call audio text/plain.
  /// - Parameter bytes: the first ones of the body, `decisive` of them where it has so many.
  package static func intruder(_ mediaType: String?, _ bytes: some Sequence<UInt8>) -> String? {
    let start = Array(bytes.prefix(decisive))
    if start.isEmpty || isMedia(start) { return nil }
    let text = start.drop { [0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf].contains($0) }
    let lower = String(decoding: text.prefix(32), as: UTF8.self).lowercased()
    let isPage = ["<!doctype html", "<html", "<head"].contains { lower.hasPrefix($0) }
    // Whatever it is called: storage services say "octet-stream" or "audio" of their errors.
    let isText = isText(start)
    let type = mediaType ?? ""
    if isPage || !isText && type.hasSuffix("html") { return "a web page" }
    if isText ? lower.hasPrefix("{") || lower.hasPrefix("[") : type.hasSuffix("json") {
      return "a JSON document"
    }
    if isText ? lower.hasPrefix("<") : type.hasSuffix("xml") { return "an XML document" }
    return isText ? "a text" : nil
  }

  /// Whether more of the body must be seen to tell: it looks like a text so far.
  package static func isUndecided(_ bytes: [UInt8]) -> Bool {
    bytes.count < decisive && !isMedia(bytes) && isText(bytes)
  }

  /// Whether there is nothing but text, in UTF-8; the last character may be cut.
  private static func isText(_ bytes: [UInt8]) -> Bool {
    let isPlain = bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7f || [9, 10, 12, 13].contains($0) }
    guard isPlain else { return false }
    return (0...min(3, bytes.count)).contains { String(validating: bytes.dropLast($0), as: UTF8.self) != nil }
  }

  /// The magic numbers of what podcasts are made of.
  private static func isMedia(_ bytes: [UInt8]) -> Bool {
    func has(_ text: String, at offset: Int = 0) -> Bool {
      bytes.dropFirst(offset).starts(with: text.utf8)
    }
    if has("ID3") || has("OggS") || has("fLaC") || has("RIFF") || has("ftyp", at: 4) || has("caff") {
      return true
    }
    if bytes.starts(with: [0x1a, 0x45, 0xdf, 0xa3]) { return true }  // Matroska, WebM
    // MPEG audio's and ADTS's frame synchronization.
    return bytes.count >= 2 && bytes[0] == 0xff && bytes[1] & 0xe0 == 0xe0 && bytes[1] != 0xff
  }
}
