/// A number that tells whether bytes are the same as before, whatever the pieces in which they come: xxHash with
/// 64 bits (https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md). Good against chance; who sends the
/// bytes can make two documents with the same one, and harms only himself.
struct ContentDigest {
  private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
  private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
  private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
  private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
  private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

  private let seed: UInt64
  private var lanes: SIMD4<UInt64>
  /// What has come since the last whole stripe of 32 bytes.
  private var pending: [UInt8] = []
  private var count: UInt64 = 0

  init(seed: UInt64) {
    self.seed = seed
    lanes = SIMD4(seed &+ Self.prime1 &+ Self.prime2, seed &+ Self.prime2, seed, seed &- Self.prime1)
    pending.reserveCapacity(32)
  }

  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    count += UInt64(bytes.count)
    var rest = bytes[...]
    if !pending.isEmpty {
      let needed = min(32 - pending.count, rest.count)
      pending.append(contentsOf: rest.prefix(needed))
      rest = rest.dropFirst(needed)
      guard pending.count == 32 else { return }
      lanes = pending.withUnsafeBytes { stripe in
        SIMD4(
          Self.round(lanes[0], Self.word(stripe, 0)), Self.round(lanes[1], Self.word(stripe, 8)),
          Self.round(lanes[2], Self.word(stripe, 16)), Self.round(lanes[3], Self.word(stripe, 24)))
      }
      pending.removeAll(keepingCapacity: true)
    }
    let whole = UnsafeRawBufferPointer(rebasing: rest)
    var offset = 0
    // In registers of their own: most of the work is here.
    var (first, second, third, fourth) = (lanes[0], lanes[1], lanes[2], lanes[3])
    while offset + 32 <= whole.count {
      first = Self.round(first, Self.word(whole, offset))
      second = Self.round(second, Self.word(whole, offset + 8))
      third = Self.round(third, Self.word(whole, offset + 16))
      fourth = Self.round(fourth, Self.word(whole, offset + 24))
      offset += 32
    }
    lanes = SIMD4(first, second, third, fourth)
    pending.append(contentsOf: whole[offset...])
  }

  var value: UInt64 {
    var hash: UInt64
    if count >= 32 {
      hash = Self.rotate(lanes[0], 1) &+ Self.rotate(lanes[1], 7) &+ Self.rotate(lanes[2], 12)
      hash = hash &+ Self.rotate(lanes[3], 18)
      for index in 0..<4 { hash = (hash ^ Self.round(0, lanes[index])) &* Self.prime1 &+ Self.prime4 }
    } else {
      hash = seed &+ Self.prime5
    }
    hash = hash &+ count
    return pending.withUnsafeBytes { Self.finished(hash, $0) }
  }

  private static func finished(_ start: UInt64, _ rest: UnsafeRawBufferPointer) -> UInt64 {
    var hash = start
    var offset = 0
    while offset + 8 <= rest.count {
      hash = rotate(hash ^ round(0, word(rest, offset)), 27) &* prime1 &+ prime4
      offset += 8
    }
    if offset + 4 <= rest.count {
      let half = UInt64(UInt32(littleEndian: rest.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
      hash = rotate(hash ^ half &* prime1, 23) &* prime2 &+ prime3
      offset += 4
    }
    for byte in rest[offset...] { hash = rotate(hash ^ UInt64(byte) &* prime5, 11) &* prime1 }
    hash = (hash ^ hash >> 33) &* prime2
    hash = (hash ^ hash >> 29) &* prime3
    return hash ^ hash >> 32
  }

  private static func round(_ lane: UInt64, _ input: UInt64) -> UInt64 {
    rotate(lane &+ input &* prime2, 31) &* prime1
  }

  private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  private static func rotate(_ value: UInt64, _ bits: UInt64) -> UInt64 {
    value << bits | value >> (64 - bits)
  }
}
