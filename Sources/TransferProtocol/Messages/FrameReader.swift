package import PodcastModel

/// Takes a message apart; believes nothing.
package struct FrameReader: Sendable {
  private var rest: ArraySlice<UInt8>

  package init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  /// The message that `bytes` are, all of them.
  package static func message<M: FramedMessage>(_ bytes: ArraySlice<UInt8>) throws(FrameError) -> M {
    var reader = FrameReader(bytes)
    let message = try M(from: &reader)
    guard reader.rest.isEmpty else { throw .malformed }
    return message
  }

  package mutating func integer<I: FixedWidthInteger>() throws(FrameError) -> I {
    let size = MemoryLayout<I>.size
    guard rest.count >= size else { throw .malformed }
    var value: I = 0
    for byte in rest.prefix(size).reversed() {
      value = (size > 1 ? value << 8 : 0) | I(truncatingIfNeeded: byte)
    }
    rest = rest.dropFirst(size)
    return value
  }

  package mutating func uint8() throws(FrameError) -> UInt8 { try integer() }
  package mutating func uint32() throws(FrameError) -> UInt32 { try integer() }
  package mutating func uint64() throws(FrameError) -> UInt64 { try integer() }
  package mutating func int64() throws(FrameError) -> Int64 { try integer() }

  package mutating func bool() throws(FrameError) -> Bool {
    switch try uint8() {
    case 0: false
    case 1: true
    default: throw .malformed
    }
  }

  package mutating func string() throws(FrameError) -> String {
    let count = Int(try uint32())
    guard rest.count >= count, let text = String(validating: rest.prefix(count), as: UTF8.self) else {
      throw .malformed
    }
    rest = rest.dropFirst(count)
    return text
  }

  package mutating func optionalString() throws(FrameError) -> String? { try bool() ? try string() : nil }
  package mutating func optionalInt64() throws(FrameError) -> Int64? { try bool() ? try int64() : nil }
  /// Sizes, times and places: such that sums of them can't overflow.
  package static let counts: ClosedRange<Int64> = 0...1 << 50

  package mutating func count() throws(FrameError) -> Int64 {
    let value = try int64()
    guard Self.counts.contains(value) else { throw .malformed }
    return value
  }
  package mutating func optionalCount() throws(FrameError) -> Int64? { try bool() ? try count() : nil }

  package mutating func optionalUInt32() throws(FrameError) -> UInt32? { try bool() ? try uint32() : nil }

  package mutating func optionalTexts() throws(FrameError) -> [String: String]? {
    guard try bool() else { return nil }
    var texts: [String: String] = [:]
    for _ in 0..<(try uint8()) {
      let name = try string()
      texts[name] = try string()
    }
    return texts
  }

  package mutating func key() throws(FrameError) -> MediaKey {
    guard rest.count >= 32, let key = MediaKey(String(decoding: rest.prefix(32), as: UTF8.self)) else {
      throw .malformed
    }
    rest = rest.dropFirst(32)
    return key
  }
}
