internal import Directory
package import HTTPKit
internal import PodcastModel
package import PosixKit
internal import SQLiteKit

/// What the catalogue could not do: the errno for the caller of the file system, and one line for a person.
/// The line names hosts, never a whole address: those may hold credentials.
///
/// | errno | |
/// |---|---|
/// | ENETUNREACH, EHOSTUNREACH, ECONNREFUSED, ETIMEDOUT | no network; no such host; refused; too slow |
/// | EAGAIN | throttled: asked too often, by the service's word or by our own count (HTTP 429, 503) |
/// | EACCES | HTTP 401 or 403, or an address that this feed may not lead to |
/// | ENOENT | a feed that is gone (HTTP 404, 410); an id that is not in the catalogue |
/// | EIO | HTTP 5xx and what else fails on the server |
/// | EPROTO | an answer that is no feed, or no answer of a directory |
/// | EEXIST | a name that is taken |
/// | EINVAL | nothing to search for; no feed's address; no OPML |
/// | ECANCELED | cancelled by the caller, or the catalogue was closed |
/// | ENOSPC, EROFS, EBUSY, EIO | the catalogue's own file |
package struct CatalogError: Error, Hashable, Sendable, CustomStringConvertible {
  package var errno: Errno
  package var message: String

  package init(_ errno: Errno, _ message: String) {
    (self.errno, self.message) = (errno, message)
  }

  package var description: String { message }
  package static let cancelled = CatalogError(.ECANCELED, "cancelled")

  package static func unknown(_ what: String) -> CatalogError {
    CatalogError(.ENOENT, "no such \(what) in the catalogue")
  }

  package static func alreadyFollowed(_ name: String) -> CatalogError {
    CatalogError(.EEXIST, "already subscribed to \(name)")
  }

  package init(_ error: HTTPError) { self.init(error.errno, error.message) }

  init(wrapping error: any Error) {
    switch error {
    case let error as CatalogError: self = error
    case let error as FeedFailure: self = error.error
    case let error as HTTPError: self.init(error)
    case let error as DatabaseError: self.init(error.errno, error.description)
    case let error as PosixError: self.init(error.errno, error.description)
    case let error as DirectoryError: self.init(error.errno, error.message)
    default: self.init(.EIO, "\(error)")
    }
  }

  /// Why the catalogue's file can't be used: a person needs to know where it is.
  init(opening path: String, _ error: any Error) {
    let reason = CatalogError(wrapping: error)
    let database = error as? DatabaseError
    let isPlain = database?.file == nil && [.ENOSPC, .EDQUOT, .EROFS, .EACCES].contains(reason.errno)
    let why = isPlain ? "\(reason.errno)" : database?.message ?? reason.message
    self.init(reason.errno, "cannot open the catalogue \(path): \(why)")
  }

  package init(status: Int, host: String) {
    let errno: Errno =
      switch status {
      case 401, 403, 407: .EACCES
      case 404, 410: .ENOENT
      case 408, 504: .ETIMEDOUT
      case 429, 503: .EAGAIN
      default: .EIO
      }
    self.init(errno, HTTPStatus.text(status, from: host))
  }
}

func existing<Value>(_ what: String, _ value: Value?) throws(CatalogError) -> Value {
  guard let value else { throw CatalogError.unknown(what) }
  return value
}

func wrapping<Value>(_ body: () throws -> Value) throws(CatalogError) -> Value {
  do { return try body() } catch { throw CatalogError(wrapping: error) }
}
