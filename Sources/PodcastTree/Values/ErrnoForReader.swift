internal import Catalog
internal import PosixKit
internal import TransferProtocol

extension Error {
  /// The errno that a system call gets for it: the one place where errors become numbers.
  var errnoForReader: Errno {
    switch self {
    case let errno as Errno: errno
    case let error as PosixError: error.errno
    case let error as CatalogError: error.errno == .ECANCELED ? .EINTR : error.errno
    case let error as TransferFailure: error.errno
    default: .EIO
    }
  }

  /// The same for a directory: "no such file" would be taken for its having been deleted.
  var errnoOfFolder: Errno { errnoForReader == .ENOENT ? .ENOLINK : errnoForReader }
}
