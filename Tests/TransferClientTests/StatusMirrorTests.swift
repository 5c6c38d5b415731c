import EpisodeCache
import Glibc
import PodcastModel
import PosixKit
import TestSupport
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

  /// The daemon says that all has come, and renames the file when that is on the disk.
  @Test func aFileThatIsJustBeingRenamedIsNotTakenForADeletedOne() throws {
    let directory = try TemporaryDirectory(inMemory: true)
    let layout = CacheLayout(cache: directory.path, runtime: directory.path)
    try layout.create()
    let mirror = StatusMirror(layout: layout)
    var cached = status(1, .cached)
    let key = cached.key
    let generations: ClosedRange<UInt32> = 1...400
    for generation in generations {
      try Directories.replace(layout.part(key, generation), with: [1])
      try Directories.replace(layout.journal(key, generation), with: [1])
    }
    // Neither sleeps, so that the file is renamed while it is looked for.
    let turn = Monitor(UInt32(0))
    PosixThread.start("renamer") {
      for generation in generations {
        while turn.withLock({ $0 }) != generation {}
        rename(layout.part(key, generation), layout.whole(key, generation))
      }
    }
    var wrong = 0
    for generation in generations {
      cached.generation = generation
      mirror.update([cached])
      turn.withLock { $0 = generation }
      var isRenamed = false
      while !isRenamed {
        isRenamed = layout.isWhole(key, generation)
        if generation.isMultiple(of: 4) {
          #expect(throws: Never.self) { _ = try layout.openData(key, generation, O_RDONLY) }
        } else if mirror.status(of: key)?.state != .cached {
          wrong += 1
        }
      }
    }
    #expect(wrong == 0)
  }

  /// The daemon tells of what it fetches once a second, also where nothing comes.
  @Test func whyAReaderGaveUpIsToldUntilSomethingComes() {
    let layout = CacheLayout(cache: "/nonexistent", runtime: "/nonexistent")
    let patient = StatusMirror(layout: layout, patience: 3600)
    let mirror = StatusMirror(layout: layout, patience: 0)
    var coming = status(1, .downloading)
    coming.received = 10
    mirror.update([coming])
    mirror.note("nothing came", of: coming.request)
    coming.rate = 0
    mirror.update([coming])
    #expect(mirror.status(of: coming.key)?.reason == "nothing came")
    var queued = coming
    queued.state = .queued
    mirror.update([queued])
    #expect(mirror.status(of: coming.key)?.reason == "nothing came")
    patient.update([coming])
    patient.note("nothing came", of: coming.request)
    coming.received = 11
    for mirror in [mirror, patient] { mirror.update([coming]) }
    #expect(mirror.status(of: coming.key)?.reason == nil)
    mirror.update([coming])
    #expect(mirror.status(of: coming.key)?.reason == nil)
    // Who has just got the error still learns why, though bytes come meanwhile.
    #expect(patient.status(of: coming.key)?.reason == "nothing came")

    // It tries again, and nothing has come yet.
    coming.error = "503 Service Unavailable"
    mirror.update([coming])
    mirror.note("503 Service Unavailable", of: coming.request)
    coming.error = nil
    mirror.update([coming])
    #expect(mirror.status(of: coming.key)?.reason == "503 Service Unavailable")

    // It knows better.
    mirror.note("nothing came", of: coming.request)
    var failed = coming
    (failed.state, failed.error) = (.failed, "404 Not Found")
    mirror.update([failed])
    #expect(mirror.status(of: coming.key)?.reason == "404 Not Found")
    mirror.update([coming])
    #expect(mirror.status(of: coming.key)?.reason == nil)

    // What was let go of is fetched as it is read.
    var left = coming
    left.state = .remote
    mirror.update([left])
    mirror.note("nothing came", of: left.request)
    #expect(mirror.status(of: left.key)?.reason == "nothing came")
    #expect(mirror.status(of: left.key)?.error == nil)
    left.received = 0
    mirror.update([left])
    #expect(mirror.status(of: left.key)?.reason == nil)

    // The daemon has told nothing of it.
    let unknown = TransferRequest(key: MediaKey(address: WebAddress("http://a.example/unknown.mp3")))
    mirror.note("the daemon does not answer", of: unknown)
    #expect(mirror.status(of: unknown.key)?.reason == "the daemon does not answer")
  }
}
