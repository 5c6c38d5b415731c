/// An option list as mount(8) and libfuse take it: `key=value,key2`. A backslash takes a comma or itself
/// literally, or begins three octal digits as in fstab(5) (`\054` is a comma); double quotes around a whole value keep
/// its commas, as mount(8) has it.
package struct OptionList: Sendable {
  package struct Option: Hashable, Sendable {
    package var key: String
    /// nil where there is no `=`.
    package var value: String?

    package init(_ key: String, _ value: String? = nil) {
      self.key = key
      self.value = value
    }
  }

  /// In the order given; empty ones are left out.
  package var options: [Option] = []

  package init(_ text: String) {
    var current: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: ",") {
        add(current)
        current = []
      } else if byte == UInt8(ascii: "\\") {
        current.append(Self.escaped(&rest))
      } else {
        let isFirstEquals = byte == UInt8(ascii: "=") && !current.contains(byte)
        current.append(byte)
        if isFirstEquals { current += Self.quoted(&rest) }
      }
    }
    add(current)
  }

  private mutating func add(_ bytes: [UInt8]) {
    if bytes.isEmpty { return }
    let equals = bytes.firstIndex(of: UInt8(ascii: "=")) ?? bytes.endIndex
    let value =
      equals < bytes.endIndex ? String(decoding: bytes[(equals + 1)...], as: UTF8.self) : nil
    options.append(Option(String(decoding: bytes[..<equals], as: UTF8.self), value))
  }

  /// A value that is in double quotes as a whole; empty where the next one is not.
  private static func quoted(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let quote = UInt8(ascii: "\"")
    guard rest.first == quote, let end = rest.dropFirst().firstIndex(of: quote) else { return [] }
    let next = rest.index(after: end)
    guard next == rest.endIndex || rest[next] == UInt8(ascii: ",") else { return [] }
    let value = rest[..<end].dropFirst()
    rest = rest[next...]
    return value
  }

  /// What stands behind a backslash.
  private static func escaped(_ rest: inout ArraySlice<UInt8>) -> UInt8 {
    let digits = rest.prefix(3)
    if digits.count == 3, let first = digits.first, (48...51).contains(first),
      digits.allSatisfy({ (48...55).contains($0) })
    {
      rest.removeFirst(3)
      return digits.reduce(0) { $0 << 3 | ($1 - 48) }
    }
    return rest.popFirst() ?? UInt8(ascii: "\\")
  }

  /// The list's text, with backslashes and commas escaped.
  package static func text(_ options: [Option]) -> String {
    options.map { option in
      let whole = option.value.map { "\(option.key)=\($0)" } ?? option.key
      return whole.replacing("\\", with: "\\\\").replacing(",", with: "\\,")
    }.joined(separator: ",")
  }
}
