internal import Catalog
internal import PodcastModel
internal import PosixKit

/// What mount(8) names as the device: a first search, a feed's address or an OPML file.
enum MountSource {
  /// Sees to it before anything is mounted, so that it can be listed from the first moment on.
  /// - Throws: `MountFailure` for a file that is no list, and for an address that no feed is at: nothing is to be mounted.
  ///   A network that is down is no failure: the next mount, or the next open of the directory, tries again.
  static func begin(_ request: MountRequest, _ catalog: Catalog) throws {
    guard let source = request.source else { return }
    let isAddress = source.hasPrefix("http://") || source.hasPrefix("https://")
    let isList = source.lowercased().hasSuffix(".opml") && !isAddress
    let shown = WebAddress(source).shown
    do {
      if isList {
        _ = try catalog.importOPML(try Directories.read(source))
      } else if isAddress {
        try subscribe(source, catalog)
      } else {
        _ = try wait { catalog.search(source, replacing: nil, completion: $0) }
      }
    } catch let error as CatalogError where error.errno == .EEXIST {
      return
    } catch let error as CatalogError where isForNow(error) && !isList {
      request.log.write("cannot mount \(shown): \(error)")
    } catch {
      throw MountFailure("cannot mount \(shown): \(error)")
    }
  }

  private static func subscribe(_ address: String, _ catalog: Catalog) throws {
    if try catalog.subscription(feedURL: address) != nil { return }
    do {
      _ = try wait { catalog.subscribe(address: address, completion: $0) }
    } catch let error as CatalogError where isForNow(error) {
      _ = try catalog.subscribe(feedURL: address, name: nil)
    }
  }

  /// A search takes ten seconds at the most, and so may a feed.
  private static func wait<Value: Sendable>(
    _ start: (@escaping @Sendable (Result<Value, CatalogError>) -> Void) -> any Cancellable
  ) throws -> Value {
    guard let result = Waiting.result(within: 11, start) else {
      throw CatalogError(.ETIMEDOUT, "no answer")
    }
    return try result.get()
  }

  /// What may be otherwise in a while: the network, the host, the service's limit.
  private static func isForNow(_ error: CatalogError) -> Bool {
    [.ENETUNREACH, .EHOSTUNREACH, .ECONNREFUSED, .ETIMEDOUT, .EAGAIN, .ECONNRESET, .EIO].contains(error.errno)
  }
}
