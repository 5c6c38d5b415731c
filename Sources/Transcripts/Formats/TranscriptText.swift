internal import PodcastModel

/// A transcript as its host gave it, made into text that players and the index can read.
package enum TranscriptText {
  /// The text in UTF-8. What is neither UTF-8 nor, by its mark, UTF-16 is read as windows-1252.
  /// - Parameter isPage: whether it may be a web page.
  /// - Returns: nil for what is no transcript: an archive or another binary, or a web page that marks neither speakers nor
  ///   times, as those of logins and errors.
  package static func utf8(_ bytes: [UInt8], isPage: Bool) -> [UInt8]? {
    let text: [UInt8]
    if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
      text = utf16(bytes.dropFirst(2), isLittle: bytes[0] == 0xFF)
    } else if bytes.contains(0) || bytes.starts(with: [0x1F, 0x8B]) {
      return nil
    } else if String(validating: bytes, as: UTF8.self) != nil {
      text = bytes
    } else {
      text = windows1252(bytes)
    }
    let isSound = TranscriptFormat(of: text) != .html || isPage && MarkedTranscripts.isMarked(text)
    return isSound ? text : nil
  }

  private static func utf16(_ bytes: ArraySlice<UInt8>, isLittle: Bool) -> [UInt8] {
    let units = stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2).map { place in
      let (first, second) = (UInt16(bytes[place]), UInt16(bytes[place + 1]))
      return isLittle ? second << 8 | first : first << 8 | second
    }
    return Array(String(decoding: units, as: UTF16.self).utf8)
  }

  private static func windows1252(_ bytes: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count + bytes.count / 8)
    for byte in bytes {
      if byte < 0x80 { text.append(byte) } else { Windows1252.append(byte, to: &text) }
    }
    return text
  }
}
