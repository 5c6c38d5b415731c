internal import CSystemd

/// Writes values into messages, and reads them.
enum BusMessage {
  /// - Returns: false where the value cannot be written.
  static func append(_ value: BusValue, to message: OpaquePointer) -> Bool {
    func basic(_ type: UnicodeScalar, _ value: some BitwiseCopyable) -> Bool {
      withUnsafePointer(to: value) {
        podcastfs_bus_message_append_basic(message, CChar(type.value), $0) >= 0
      }
    }
    func text(_ type: UnicodeScalar, _ text: String) -> Bool {
      // Texts of a message end at their first NUL.
      text.withCString { podcastfs_bus_message_append_basic(message, CChar(type.value), $0) >= 0 }
    }
    func container(_ type: UnicodeScalar, _ contents: String, _ body: () -> Bool) -> Bool {
      podcastfs_bus_message_open_container(message, CChar(type.value), contents) >= 0 && body()
        && podcastfs_bus_message_close_container(message) >= 0
    }
    func all(_ values: [BusValue]) -> Bool { values.allSatisfy { append($0, to: message) } }
    switch value {
    case .bool(let value): return basic("b", Int32(value ? 1 : 0))
    case .byte(let value): return basic("y", value)
    case .int32(let value): return basic("i", value)
    case .uint32(let value): return basic("u", value)
    case .int64(let value): return basic("x", value)
    case .uint64(let value): return basic("t", value)
    case .double(let value): return basic("d", value)
    case .string(let value): return text("s", value)
    case .objectPath(let value): return text("o", value)
    case .array(let element, let values): return container("a", element) { all(values) }
    case .structure(let fields):
      return container("r", fields.map(\.signature).joined()) { all(fields) }
    case .variant(let value): return container("v", value.signature) { append(value, to: message) }
    case .dictionary(let values):
      return container("a", "{sv}") {
        values.sorted { $0.key < $1.key }.allSatisfy { key, value in
          container("e", "sv") { text("s", key) && append(.variant(value), to: message) }
        }
      }
    case .other: return false
    }
  }

  /// All values that are left.
  static func values(of message: OpaquePointer) -> [BusValue] { values(of: message, depth: 0) }

  /// Containers in containers; nothing that is read here has more.
  private static let deepest = 16

  private static func values(of message: OpaquePointer, depth: Int) -> [BusValue] {
    var values: [BusValue] = []
    while let value = next(of: message, depth) { values.append(value) }
    return values
  }

  private static func next(of message: OpaquePointer, _ depth: Int) -> BusValue? {
    var type: CChar = 0
    var contents: UnsafePointer<CChar>?
    guard podcastfs_bus_message_peek_type(message, &type, &contents) > 0 else { return nil }
    func basic<V: BitwiseCopyable>(_ initial: V) -> V? {
      var value = initial
      return podcastfs_bus_message_read_basic(message, type, &value) > 0 ? value : nil
    }
    func text() -> String? {
      var text: UnsafePointer<CChar>?
      return podcastfs_bus_message_read_basic(message, type, &text) > 0
        ? text.map { String(cString: $0) } : nil
    }
    func inside() -> [BusValue]? {
      guard depth < deepest, podcastfs_bus_message_enter_container(message, type, contents) > 0 else {
        return nil
      }
      let values = values(of: message, depth: depth + 1)
      return podcastfs_bus_message_exit_container(message) >= 0 ? values : nil
    }
    switch UnicodeScalar(UInt8(bitPattern: type)) {
    case "b": return basic(Int32(0)).map { .bool($0 != 0) }
    case "y": return basic(UInt8(0)).map { .byte($0) }
    case "i": return basic(Int32(0)).map { .int32($0) }
    case "u": return basic(UInt32(0)).map { .uint32($0) }
    case "x": return basic(Int64(0)).map { .int64($0) }
    case "t": return basic(UInt64(0)).map { .uint64($0) }
    case "d": return basic(0.0).map { .double($0) }
    case "s", "g": return text().map { .string($0) }
    case "o": return text().map { .objectPath($0) }
    case "v": return inside()?.first
    case "r", "e": return inside().map { .structure($0) }
    case "a":
      let element = contents.map { String(cString: $0) } ?? ""
      guard let elements = inside() else { return nil }
      return element.hasPrefix("{s") ? dictionary(elements) : .array(element, elements)
    // Descriptors and rarer numbers.
    default: return podcastfs_bus_message_skip(message, nil) > 0 ? .other : nil
    }
  }

  private static func dictionary(_ entries: [BusValue]) -> BusValue {
    var values: [String: BusValue] = [:]
    for case .structure(let entry) in entries where entry.count == 2 {
      if case .string(let key) = entry[0] { values[key] = entry[1] }
    }
    return .dictionary(values)
  }
}
