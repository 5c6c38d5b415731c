import Configuration
import EpisodeCache
import Glibc
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol
import TransferStore

/// The disk that the store of downloads is on is full: an order is done, or refused and not done.
@Suite(.enabled(if: geteuid() == 0, "mounting a small disk takes root")) struct FullStateTests {
  let user: TransferFixture

  init() throws {
    user = try TransferFixture()
    try #require(mount("tmpfs", user.places.state, "tmpfs", 0, "size=1m,mode=0700") == 0)
  }

  private var ballast: String { user.places.state + "/ballast" }

  /// Takes all the room that is left, and what the store has in reserve.
  private func fill() throws {
    let file = open(ballast, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    try #require(file >= 0)
    defer { close(file) }
    let block = [UInt8](repeating: 1, count: 512)
    while write(file, block, block.count) > 0 {}
    #expect(Errno.current == .ENOSPC)
  }

  private func failure(
    of client: TransferClient, _ order: (TransferClient, @escaping OrderCompletion) -> any Cancellable
  ) -> TransferFailure?? {
    let end = Monitor<TransferFailure??>(nil)
    _ = order(client) { failure in end.withLockNotifying { $0 = .some(failure) } }
    return end.wait(until: .after(patience)) { $0 }
  }

  @Test func whatCannotBeRememberedIsRefusedAndNotDone() throws {
    defer { umount2(user.places.state, Int32(MNT_DETACH)) }
    let client = try user.client()
    let slow = user.serve(TestBody(seed: 1, size: 4_000_000), at: "/slow.mp3", .with { $0.rate = 50_000 })
    let paused = user.serve(TestBody(seed: 2, size: 4_000_000), at: "/paused.mp3")
    #expect(client.confirmed { $0.order(.pause(paused), completion: $1) })
    let whole = user.serve(TestBody(seed: 3, size: 100_000), at: "/whole.mp3")
    #expect(client.confirmed { $0.order(.start(whole), completion: $1) })
    #expect(client.reaches(.cached, whole))
    #expect(client.confirmed { $0.order(.start(slow), completion: $1) })
    #expect(client.reaches(.downloading, slow))
    try fill()
    // Until what the store's log has in reserve is used up.
    #expect(
      eventually {
        guard
          case .some(.some(let failure)) = self.failure(
            of: client, { $0.order(.setKept(paused, true), completion: $1) })
        else {
          _ = client.confirmed { $0.order(.setKept(paused, false), completion: $1) }
          return false
        }
        return failure.errno == .ENOSPC
      })
    #expect(eventually { client.status(of: paused.key)?.isKept == false })
    #expect(failure(of: client) { $0.order(.start(paused), completion: $1) }??.errno == .ENOSPC)
    #expect(client.status(of: paused.key)?.state == .paused)
    #expect(failure(of: client) { $0.order(.pause(slow), completion: $1) }??.errno == .ENOSPC)
    #expect(failure(of: client) { $0.order(.drop(whole.key), completion: $1) }??.errno == .ENOSPC)
    #expect(client.status(of: whole.key)?.state == .cached)
    #expect(user.layout.hasData(whole.key, user.generation(whole)))
    let state = client.status(of: slow.key)?.state
    #expect(state == .queued || state == .downloading, "\(String(describing: state))")
    unlink(ballast)
    #expect(eventually { client.confirmed { $0.order(.pause(slow), completion: $1) } })
    #expect(client.status(of: slow.key)?.state == .paused)
    #expect(client.confirmed { $0.order(.start(paused), completion: $1) })
    #expect(client.reaches(.cached, paused), "\(String(describing: client.status(of: paused.key)))")
  }

  /// Not even its store can be made: who reads hears that a disk is full.
  @Test func aDaemonThatHasNoRoomToBeginSaysSo() throws {
    defer { umount2(user.places.state, Int32(MNT_DETACH)) }
    try fill()
    let client = try user.client()
    let request = user.serve(TestBody(seed: 5, size: 100_000))
    let failure = client.openFailure(request)
    #expect(failure?.errno == .ENOSPC, "\(failure?.message ?? "")")
    #expect(failure?.message.contains("cannot start") == true)
    unlink(ballast)
    #expect(eventually { (try? client.opened(request)) != nil })
  }
}
