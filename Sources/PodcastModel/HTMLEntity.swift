/// Character references of HTML (WHATWG HTML §13.5), as they stand in text that was escaped twice.
package enum HTMLEntity {
  /// The character reference at the start of `bytes`, which begin with `&`.
  /// - Returns: what it stands for and how many bytes it has, its semicolon included; nil where there is no
  ///   reference that we know.
  package static func resolve(_ bytes: some Collection<UInt8>) -> (text: String, length: Int)? {
    let body = bytes.dropFirst().prefix(32)
    guard let end = body.firstIndex(of: UInt8(ascii: ";")) else { return nil }
    let name = Array(body[..<end])
    guard let first = name.first else { return nil }
    let length = name.count + 2
    if first == UInt8(ascii: "#") {
      return number(name.dropFirst()).map { (String(Character($0)), length) }
    }
    guard let value = named(String(decoding: name, as: UTF8.self)) else { return nil }
    return (value, length)
  }

  /// The character that a numeric reference ("#8217", "#x2019") means; windows-1252 for 128 to 159, as
  /// browsers do.
  private static func number(_ digits: ArraySlice<UInt8>) -> Unicode.Scalar? {
    guard let first = digits.first, digits.count <= 8 else { return nil }
    let isHexadecimal = first | 0x20 == UInt8(ascii: "x")
    let text = String(decoding: isHexadecimal ? digits.dropFirst() : digits, as: UTF8.self)
    guard let value = UInt32(text, radix: isHexadecimal ? 16 : 10), text.first != "+" else { return nil }
    if (0x80...0x9F).contains(value) {
      return Unicode.Scalar(Windows1252.scalars[Int(value) - 0x80])
    }
    return value == 0 ? nil : Unicode.Scalar(value)
  }
}
