package import PodcastModel
package import PosixKit

/// Who brings sidecars from the network: the tree itself knows none.
package protocol SidecarFetcher: AnyObject, Sendable {
  /// Fetches a small file as a whole, within bounds of size and time. The completion is called exactly once,
  /// on any thread; cancelled, with EINTR.
  /// - Parameter allowsPrivateHosts: whether the address may lead to a private, loopback or link-local host.
  func fetch(
    _ url: WebAddress, allowsPrivateHosts: Bool,
    completion: @escaping @Sendable (Result<[UInt8], Errno>) -> Void
  ) -> any Cancellable
}
