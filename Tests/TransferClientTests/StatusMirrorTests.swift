import EpisodeCache
import PodcastModel
import Testing
import TransferProtocol

@testable import TransferClient

/// What a mount remembers of downloads.
@Suite struct StatusMirrorTests {
  private func status(_ number: Int, _ state: TransferState) -> TransferStatus {
    TransferStatus(
      key: MediaKey(address: WebAddress("http://a.example/\(number).mp3")), state: state, total: 100,
      changed: Int64(number))
  }

  /// A mount lives for months: what was dropped is remembered as long as the daemon remembers it, not longer.
  @Test func whatHoldsNothingIsForgottenTheOldestFirst() {
    let mirror = StatusMirror(layout: CacheLayout(cache: "/nonexistent", runtime: "/nonexistent"))
    mirror.update([status(0, .paused)])
    for number in 1...20_000 {
      mirror.update([status(number, .queued)])
      mirror.update([status(number, .remote)])
    }
    let left = mirror.all()
    #expect(left.count <= 8192 + 1)
    #expect(left.contains { $0.state == .paused })
    let newest = Set(left.map(\.changed))
    #expect((20_000 - 4000...20_000).allSatisfy { newest.contains(Int64($0)) })
  }

  /// Without a daemon nothing comes, whatever the last one said.
  @Test func whatCameIsQueuedWhereNoDaemonCanGoOn() {
    let mirror = StatusMirror(layout: CacheLayout(cache: "/nonexistent", runtime: "/nonexistent"))
    var coming = status(1, .downloading)
    (coming.rate, coming.eta) = (57_133, 32)
    mirror.update([coming, status(2, .paused)])
    mirror.nothingComes()
    let left = mirror.status(of: coming.key)
    #expect(left?.state == .queued && left?.rate == nil && left?.eta == nil)
    #expect(mirror.status(of: status(2, .paused).key)?.state == .paused)
  }
}
