internal import CLinux

/// CRC-32C (Castagnoli; RFC 3720, B.4): finds any error of up to five bits in a MiB, and others but for one in
/// 2³². It is no protection against an attacker.
package struct CRC32C: Hashable, Sendable {
  /// Of all bytes so far.
  package private(set) var value: UInt32

  package init(_ value: UInt32 = 0) { self.value = value }

  /// Goes on with `bytes`, by the processor's instruction where it has one.
  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.bindMemory(to: UInt8.self).baseAddress else { return }
    value = podcastfs_crc32c(value, base, bytes.count)
  }

  /// The checksum of a whole.
  package static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    var sum = CRC32C()
    bytes.withUnsafeBytes { sum.update($0) }
    return sum.value
  }
}
