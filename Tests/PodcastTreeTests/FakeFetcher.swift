import PodcastModel
import PodcastTree
import PosixKit
import TransferProtocol

/// The network, as far as sidecars need it: the test says what is at which address.
final class FakeFetcher: SidecarFetcher {
  struct State {
    var files: [WebAddress: [UInt8]] = [:]
    var asked: [(url: WebAddress, allowsPrivateHosts: Bool)] = []
    /// What their host says it does not have.
    var gone: Set<WebAddress> = []
    var keepsWaiting = false
  }
  let state = Monitor(State())

  func fetch(
    _ url: WebAddress, allowsPrivateHosts: Bool, acceptsPages: Bool,
    completion: @escaping @Sendable (Result<[UInt8], Errno>) -> Void
  ) -> any Cancellable {
    let answer = state.withLock { state -> Result<[UInt8], Errno>? in
      state.asked.append((url, allowsPrivateHosts))
      if state.keepsWaiting { return nil }
      if state.gone.contains(url) { return .failure(.ENOENT) }
      return state.files[url].map { .success($0) } ?? .failure(.ETIMEDOUT)
    }
    if let answer { completion(answer) }
    return FakeWait { if answer == nil { completion(.failure(.EINTR)) } }
  }
}
