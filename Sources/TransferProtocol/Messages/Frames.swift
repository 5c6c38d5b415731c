package import PodcastModel

/// A message that goes over the socket, in a frame: the length of the rest (4 bytes), its kind, its fields.
package protocol FramedMessage: BinaryValue {}

package enum Frames {
  /// The version of the protocol, in `hello` and `welcome`, which stay as they are in all versions.
  package static let version: UInt32 = 16
  /// Bytes of the longest frame; the sender sees to it.
  package static let longest = 1 << 20
}

extension FramedMessage {
  package var frame: [UInt8] {
    let message = encoded
    return UInt32(message.count).encoded + message
  }
}

/// Cuts what comes over a socket into frames.
package struct FrameBuffer: Sendable {
  private var bytes: [UInt8] = []
  private var start = 0

  package init() {}

  package mutating func append(_ piece: some Collection<UInt8>) {
    bytes.removeFirst(start)
    start = 0
    bytes.append(contentsOf: piece)
  }

  /// The next whole message; nil where it has not come yet.
  package mutating func next<M: FramedMessage>() throws(BinaryError) -> M? {
    let rest = bytes[start...]
    guard rest.count >= 4 else { return nil }
    let length = Int(try UInt32(decoding: rest.prefix(4)))
    guard length <= Frames.longest else { throw .tooLong }
    guard rest.count >= 4 + length else { return nil }
    start += 4 + length
    return try M(decoding: rest.dropFirst(4).prefix(length))
  }
}
