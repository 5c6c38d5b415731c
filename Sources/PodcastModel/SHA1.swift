/// SHA-1 (RFC 3174), for name-based UUIDs: it protects nothing. None of the libraries that we link offers it.
enum SHA1 {
  static func digest(of message: [UInt8]) -> [UInt8] {
    var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0]
    var padded = message + [0x80]
    padded += repeatElement(0, count: (120 - padded.count % 64) % 64)
    padded += withUnsafeBytes(of: (UInt64(message.count) * 8).bigEndian) { Array($0) }
    var words = [UInt32](repeating: 0, count: 80)
    for block in stride(from: 0, to: padded.count, by: 64) {
      for index in 0..<16 {
        words[index] = padded.withUnsafeBytes {
          UInt32(bigEndian: $0.loadUnaligned(fromByteOffset: block + index * 4, as: UInt32.self))
        }
      }
      for index in 16..<80 {
        words[index] = rotate(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], 1)
      }
      var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
      func step(_ index: Int, _ mix: UInt32, _ constant: UInt32) {
        let next = rotate(a, 5) &+ mix &+ e &+ constant &+ words[index]
        (a, b, c, d, e) = (next, a, rotate(b, 30), c, d)
      }
      for index in 0..<20 { step(index, b & c | ~b & d, 0x5a82_7999) }
      for index in 20..<40 { step(index, b ^ c ^ d, 0x6ed9_eba1) }
      for index in 40..<60 { step(index, b & c | b & d | c & d, 0x8f1b_bcdc) }
      for index in 60..<80 { step(index, b ^ c ^ d, 0xca62_c1d6) }
      state = zip(state, [a, b, c, d, e]).map { $0 &+ $1 }
    }
    return state.flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } }
  }

  private static func rotate(_ word: UInt32, _ bits: UInt32) -> UInt32 { word << bits | word >> (32 - bits) }
}
