internal import PodcastModel

enum FeedText {
  typealias Bytes = UnsafeBufferPointer<UInt8>

  /// Without white space at both ends, no-break spaces included.
  static func trimmed(_ bytes: Bytes) -> Bytes {
    var rest = bytes[...]
    while let first = rest.first, first <= 0x20 || first == 0xC2 && rest.dropFirst().first == 0xA0 {
      rest = rest.dropFirst(first <= 0x20 ? 1 : 2)
    }
    while let last = rest.last, last <= 0x20 || last == 0xA0 && rest.dropLast().last == 0xC2 {
      rest = rest.dropLast(last <= 0x20 ? 1 : 2)
    }
    return Bytes(rebasing: rest)
  }

  static func string(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

  /// Trimmed, runs of white space made one blank.
  static func collapsed(_ bytes: Bytes) -> String {
    let trimmed = trimmed(bytes)
    if !trimmed.contains(where: { $0 < 0x20 }),
      !zip(trimmed, trimmed.dropFirst()).contains(where: { $0 == (0x20, 0x20) })
    {
      return string(trimmed)
    }
    return string(Array(trimmed.split { $0 <= 0x20 }.joined(separator: [0x20])))
  }

  static func oneLine(_ text: String) -> String {
    var text = text
    return text.withUTF8 { collapsed($0) }
  }

  /// The digits at the start of the text as a number; nil where there are none, or too many.
  static func number(_ bytes: Bytes) -> Int64? {
    Int64(string(trimmed(bytes).prefix { (48...57).contains($0) }))
  }

  /// A whole number above 0 that is all of the text; nil for anything else.
  static func wholeNumber(_ bytes: Bytes) -> Int64? {
    number(bytes).flatMap { $0 > 0 && trimmed(bytes).allSatisfy { (48...57).contains($0) } ? $0 : nil }
  }

  /// A season's or episode's number: the first whole number in the text.
  static func smallNumber(_ bytes: Bytes) -> Int? {
    let digits = bytes.drop { !(48...57).contains($0) }
    return number(Bytes(rebasing: digits)).flatMap { $0 <= 1_000_000 ? Int($0) : nil }
  }

  /// `itunes:explicit` and other yes or no; nil for any other word.
  static func explicit(_ bytes: Bytes) -> Bool? {
    switch collapsed(bytes).lowercased() {
    case "yes", "true", "explicit", "1": true
    case "no", "false", "clean", "0", "none": false
    default: nil
    }
  }

  /// Text for one line. The control characters 0x80 to 0x9F, which nobody means, are read as windows-1252.
  static func title(_ bytes: Bytes) -> String {
    let text = collapsed(bytes)
    // In UTF-8 they begin with this byte.
    guard bytes.contains(0xC2) else { return text }
    return text.unicodeScalars.reduce(into: "") { title, scalar in
      let isControl = (0x80...0x9F).contains(scalar.value)
      let meant = isControl ? Unicode.Scalar(Windows1252.scalars[Int(scalar.value) - 0x80]) : scalar
      title.unicodeScalars.append(meant ?? scalar)
    }
  }
}

extension [UInt8] {
  /// `withUnsafeBytes` for bodies that throw errors of one type.
  func withBytes<Result, Failure>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withUnsafeBufferPointer { bytes throws(Failure) in try body(UnsafeRawBufferPointer(bytes)) }
  }
}
