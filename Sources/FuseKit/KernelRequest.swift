internal import CFuse3
internal import CLinux
internal import Glibc

/// What stands at the beginning of a request of the kernel (struct fuse_in_header of linux/fuse.h), where libfuse says
/// less; and what it can be told beside libfuse (3.14 knows it not).
struct KernelRequest {
  /// The kernel's number of it, with `repeatedBit` where another process had it before.
  let number: UInt64
  let operation: UInt32
  let node: UInt64

  /// - Parameter buffer: as libfuse received it: the header is always there.
  init(_ buffer: fuse_buf) {
    guard let start = buffer.mem, buffer.size >= Self.headerSize else {
      (number, operation, node) = (0, 0, 0)
      return
    }
    operation = start.load(fromByteOffset: 4, as: UInt32.self)
    number = start.load(fromByteOffset: 8, as: UInt64.self)
    node = start.load(fromByteOffset: 16, as: UInt64.self)
  }

  private static let headerSize = 40
  /// FUSE_INIT.
  var isGreeting: Bool { operation == 26 }

  /// FUSE_UNIQUE_RESEND.
  static let repeatedBit: UInt64 = 1 << 63

  /// The number of the request that the calling thread serves.
  static var current: UInt64 { podcastfs_request() }

  /// Of a request of poll(2) that the calling thread serves, the kernel's number for who waits (struct fuse_poll_in).
  static var currentPoll: UInt64 { podcastfs_poll_number() }

  /// Notes what the calling thread serves.
  func isServed(_ buffer: fuse_buf) {
    podcastfs_set_request(number)
    let isPoll = operation == 40 && buffer.size >= Self.headerSize + 16
    if isPoll, let start = buffer.mem {
      podcastfs_set_poll_number(start.load(fromByteOffset: Self.headerSize + 8, as: UInt64.self))
    }
  }

  /// FUSE_NOTIFY_RESEND.
  static let resend: Int32 = 7

  /// FUSE_NOTIFY_POLL.
  static let poll: Int32 = 1

  /// A notification (struct fuse_out_header), with a number as its body or without one.
  static func notification(_ code: Int32, _ number: UInt64? = nil) -> [UInt64] {
    let length: UInt64 = number == nil ? 16 : 24
    return [length | UInt64(UInt32(bitPattern: code)) << 32, 0] + (number.map { [$0] } ?? [])
  }

  /// FUSE_HAS_RESEND, among the flags of a greeting (struct fuse_init_in: version, subversion, read-ahead, flags, further
  /// flags).
  static func offersResending(_ greeting: [UInt8]) -> Bool { furtherFlags(greeting) & (1 << 7) != 0 }

  private static func furtherFlags(_ greeting: [UInt8]) -> UInt32 {
    guard greeting.count >= headerSize + 20 else { return 0 }
    return greeting.withUnsafeBytes {
      $0.loadUnaligned(fromByteOffset: headerSize + 16, as: UInt32.self)
    }
  }
}
