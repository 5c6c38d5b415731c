/// Tells a web page or an API's answer from audio or video: hotels' login pages, hosts' error pages that come
/// with status 200.
enum ContentKind {
  // Media types are in lower case and without parameters.

  /// Whether a media type is one that audio does not have.
  private static func isSuspicious(_ mediaType: String?) -> Bool {
    guard let type = mediaType else { return true }
    if type.hasPrefix("text/") { return true }
    return type.hasSuffix("json") || type.hasSuffix("xml") || type.hasSuffix("html")
      || type == "application/javascript"
  }

  /// What came instead of audio, for people; nil where it may be audio.
  /// - Parameter bytes: the first ones of the body.
  static func intruder(_ mediaType: String?, _ bytes: some Sequence<UInt8>) -> String? {
    let start = Array(bytes.prefix(512))
    if isMedia(start) { return nil }
    let text = start.drop { [0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf].contains($0) }
    let lower = String(decoding: text.prefix(32), as: UTF8.self).lowercased()
    if lower.hasPrefix("<!doctype html") || lower.hasPrefix("<html") || lower.hasPrefix("<head") {
      return "a web page"
    }
    guard let type = mediaType else { return lower.hasPrefix("<?xml") ? "an XML document" : nil }
    guard isSuspicious(type) else { return nil }
    if type.hasSuffix("html") { return "a web page" }
    if type.hasSuffix("json") { return "a JSON document" }
    if type.hasSuffix("xml") { return "an XML document" }
    // Some hosts call audio text/plain: believed where it is no text.
    return start.allSatisfy { $0 >= 0x20 && $0 < 0x7f || [9, 10, 13].contains($0) } ? "a text" : nil
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
