internal import CFuse3
internal import CLinux
internal import Glibc

/// What stands at the beginning of a request of the kernel (struct fuse_in_header of linux/fuse.h), where libfuse says
/// less; and a notification that libfuse 3.14 does not know.
struct KernelRequest {
  /// The kernel's number of it. The highest bit says that another process had it before (FUSE_UNIQUE_RESEND).
  private let number: UInt64
  let isGreeting: Bool

  /// - Parameter buffer: as libfuse received it: the header is always there.
  init(_ buffer: fuse_buf) {
    guard let start = buffer.mem, buffer.size >= Self.headerSize else {
      (number, isGreeting) = (0, false)
      return
    }
    isGreeting = start.load(fromByteOffset: 4, as: UInt32.self) == 26
    number = start.load(fromByteOffset: 8, as: UInt64.self)
  }

  static let headerSize = 40

  /// Whether another process had the request that the calling thread serves.
  static var isCurrentRepeated: Bool { podcastfs_request() >> 63 != 0 }
  func isServed() { podcastfs_set_request(number) }

  /// FUSE_NOTIFY_RESEND, as a message (struct fuse_out_header).
  static let resend: [UInt64] = [16 | 7 << 32, 0]
}
