internal import Glibc
internal import PosixKit

extension FileDescriptor {
  static var temporaryFolder: String { getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp" }

  /// A file in the temporary directory that has no name any more: it goes with its descriptor.
  static func temporary() throws(PosixError) -> FileDescriptor {
    while true {
      let path = "\(temporaryFolder)/podcastfs-\(UInt64.random(in: 0...UInt64.max))"
      do {
        let file = try FileDescriptor(opening: path, O_RDWR | O_CREAT | O_EXCL)
        unlink(path)
        return file
      } catch  where error.errno == .EEXIST {
        continue
      }
    }
  }
}
