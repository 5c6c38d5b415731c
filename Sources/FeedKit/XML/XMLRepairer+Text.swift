internal import PodcastModel

extension XMLRepairer {
  /// Copies text up to the next "<".
  func copyText(_ window: inout XMLWindow) -> Bool {
    while let byte = window.peek(), byte != UInt8(ascii: "<") {
      if byte == UInt8(ascii: "&") {
        guard copyReference(&window) else { return false }
      } else {
        guard copyCharacter(&window) else { return false }
      }
    }
    return true
  }

  /// Copies a CDATA section as text, up to and with its end.
  func copySection(_ window: inout XMLWindow) -> Bool {
    while let byte = window.peek() {
      switch byte {
      case UInt8(ascii: "]"):
        if window.starts(with: "]]>") {
          window.position += 3
          mode = .content
          return true
        }
        if !window.atEnd, window.remaining < 3 { return false }
        output.append(byte)
        window.position += 1
      case UInt8(ascii: "&"):
        output += "&#38;".utf8
        window.position += 1
      case UInt8(ascii: "<"):
        output += "&#60;".utf8
        window.position += 1
      default:
        guard copyCharacter(&window) else { return false }
      }
    }
    return false
  }

  /// At a "&": copies the reference in numeric form, or the ampersand as text.
  /// - Returns: false where more bytes are needed.
  func copyReference(_ window: inout XMLWindow) -> Bool {
    let rest = window.bytes[window.position...].prefix(34)
    if !window.atEnd, rest.count < 34, !rest.contains(UInt8(ascii: ";")) { return false }
    if let found = HTMLEntity.resolve(rest) {
      for scalar in found.text.unicodeScalars where Self.isAllowed(scalar.value) {
        output += "&#\(scalar.value);".utf8
      }
      window.position += found.length
    } else {
      repairs.ampersands += 1
      output += "&#38;".utf8
      window.position += 1
    }
    return true
  }

  /// Copies one character that is neither "<" nor "&".
  /// - Returns: false where more bytes are needed.
  func copyCharacter(_ window: inout XMLWindow) -> Bool {
    let byte = window.bytes[window.position]
    if byte < 0x80 {
      window.position += 1
      if byte == UInt8(ascii: ">") {
        output += "&#62;".utf8
      } else if byte >= 0x20 || byte == 9 || byte == 10 || byte == 13 {
        output.append(byte)
      } else {
        repairs.controls += 1
      }
      return true
    }
    switch Self.sequenceLength(window.bytes, window.position) {
    case .whole(let length, let value):
      if Self.isAllowed(value) {
        output += window.bytes[window.position..<window.position + length]
      } else {
        repairs.controls += 1
      }
      window.position += length
    case .cut where !window.atEnd: return false
    case .cut, .wrong:
      repairs.wrongEncoding += 1
      Windows1252.append(byte, to: &output)
      window.position += 1
    }
    return true
  }

  private enum Sequence {
    case whole(Int, UInt32)
    /// Right as far as it is here.
    case cut
    case wrong
  }

  /// The UTF-8 sequence that begins at `start` with a byte from 0x80 on (RFC 3629 §4).
  private static func sequenceLength(_ bytes: [UInt8], _ start: Int) -> Sequence {
    let first = bytes[start]
    let length: Int
    var value: UInt32
    switch first {
    case 0xC2...0xDF: (length, value) = (2, UInt32(first & 0x1F))
    case 0xE0...0xEF: (length, value) = (3, UInt32(first & 0x0F))
    case 0xF0...0xF4: (length, value) = (4, UInt32(first & 0x07))
    default: return .wrong
    }
    for index in 1..<length {
      guard start + index < bytes.count else { return .cut }
      let byte = bytes[start + index]
      guard byte & 0xC0 == 0x80 else { return .wrong }
      value = value << 6 | UInt32(byte & 0x3F)
    }
    let isShortest = value >= (length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000)
    let isScalar = value <= 0x10FFFF && !(0xD800...0xDFFF).contains(value)
    return isShortest && isScalar ? .whole(length, value) : .wrong
  }

  /// XML 1.0 §2.2, Char.
  static func isAllowed(_ value: UInt32) -> Bool {
    switch value {
    case 9, 10, 13, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: true
    default: false
    }
  }
}
