/// An option list as mount(8) and libfuse take it: `key=value,key2`. A backslash takes a comma or itself literally.
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
        current.append(rest.popFirst() ?? byte)
      } else {
        current.append(byte)
      }
    }
    add(current)
  }

  private mutating func add(_ bytes: [UInt8]) {
    if bytes.isEmpty { return }
    let equals = bytes.firstIndex(of: UInt8(ascii: "=")) ?? bytes.endIndex
    let value = equals < bytes.endIndex ? String(decoding: bytes[(equals + 1)...], as: UTF8.self) : nil
    options.append(Option(String(decoding: bytes[..<equals], as: UTF8.self), value))
  }

  /// The list's text, with backslashes and commas escaped.
  package static func text(_ options: [Option]) -> String {
    options.map { option in
      let whole = option.value.map { "\(option.key)=\($0)" } ?? option.key
      return whole.replacing("\\", with: "\\\\").replacing(",", with: "\\,")
    }.joined(separator: ",")
  }
}
