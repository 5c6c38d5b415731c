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

  /// The same for a folder, whose dialog shows the system's words: "No data available" where the feed is gone ("No such file"
  /// would mean that the folder is deleted), "Remote I/O error" where its host fails ("Input/output error" means a disk).
  var errnoOfFolder: Errno {
    switch errnoForReader {
    case .ENOENT: .ENODATA
    case .EIO: .EREMOTEIO
    case let errno: errno
    }
  }
}
