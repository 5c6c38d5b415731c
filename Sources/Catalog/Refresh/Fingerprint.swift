/// A number that tells whether texts are still the same, the same in every process and version (FNV-1a, 64
/// bits).
struct Fingerprint: Sendable {
  private static let prime: UInt64 = 0x0000_0100_0000_01b3
  private var state: UInt64 = 0xcbf2_9ce4_8422_2325

  mutating func add(_ text: String?) {
    guard var text else { return add(byte: 0) }
    add(byte: 1)
    text.withUTF8 { bytes in
      var hash = state
      for byte in bytes { hash = (hash ^ UInt64(byte)) &* Self.prime }
      state = hash
    }
    add(byte: 0xFF)
  }

  mutating func add(_ number: (some FixedWidthInteger)?) { add(number.map { String($0) }) }

  mutating func add(_ flag: Bool?) { add(flag.map { $0 ? "1" : "0" }) }

  /// As SQLite keeps it.
  var value: Int64 { Int64(bitPattern: state) }

  private mutating func add(byte: UInt8) {
    state = (state ^ UInt64(byte)) &* Self.prime
  }
}
