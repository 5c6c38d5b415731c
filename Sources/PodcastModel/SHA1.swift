/// SHA-1 (RFC 3174), for name-based UUIDs only: it protects nothing. None of the libraries that we link
/// offers it.
package enum SHA1 {
  /// The 20 bytes of the digest.
  package static func digest(of message: [UInt8]) -> [UInt8] {
    var state: State = (
      0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0
    )
    var padded = message
    padded.append(0x80)
    while padded.count % 64 != 56 { padded.append(0) }
    let bits = UInt64(message.count) * 8
    for shift in stride(from: 56, through: 0, by: -8) {
      padded.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
    }
    padded.withUnsafeBufferPointer { bytes in
      withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 80) { words in
        for block in stride(from: 0, to: bytes.count, by: 64) { add(bytes, block, words, to: &state) }
      }
    }
    return [state.0, state.1, state.2, state.3, state.4].flatMap { word in
      stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt32($0)) }
    }
  }

  private typealias State = (UInt32, UInt32, UInt32, UInt32, UInt32)

  /// - Parameter words: room for 80.
  private static func add(
    _ bytes: UnsafeBufferPointer<UInt8>, _ block: Int, _ words: UnsafeMutableBufferPointer<UInt32>,
    to state: inout State
  ) {
    for index in 0..<16 {
      let at = block + index * 4
      words[index] =
        UInt32(bytes[at]) << 24 | UInt32(bytes[at + 1]) << 16 | UInt32(bytes[at + 2]) << 8
        | UInt32(bytes[at + 3])
    }
    for index in 16..<80 {
      words[index] = rotate(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], 1)
    }
    var (a, b, c, d, e) = state
    func step(_ mix: UInt32, _ constant: UInt32, _ word: UInt32) {
      let next = rotate(a, 5) &+ mix &+ e &+ constant &+ word
      (a, b, c, d, e) = (next, a, rotate(b, 30), c, d)
    }
    for index in 0..<20 { step(b & c | ~b & d, 0x5a82_7999, words[index]) }
    for index in 20..<40 { step(b ^ c ^ d, 0x6ed9_eba1, words[index]) }
    for index in 40..<60 { step(b & c | b & d | c & d, 0x8f1b_bcdc, words[index]) }
    for index in 60..<80 { step(b ^ c ^ d, 0xca62_c1d6, words[index]) }
    state = (state.0 &+ a, state.1 &+ b, state.2 &+ c, state.3 &+ d, state.4 &+ e)
  }

  private static func rotate(_ word: UInt32, _ bits: UInt32) -> UInt32 { word << bits | word >> (32 - bits) }
}
