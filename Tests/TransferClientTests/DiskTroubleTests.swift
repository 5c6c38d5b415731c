import Configuration
import EpisodeCache
import Glibc
import HTTPServerKit
import PodcastModel
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol

/// The disk, or the room for maps, fails in the middle: nothing that came is lost, nobody is kept busy.
@Suite struct DiskTroubleTests {
  let user: TransferFixture

  init() throws { user = try TransferFixture() }

  /// Who only fetches what is read has asked for no download, room or not.
  @Test(.enabled(if: geteuid() == 0)) func aFullDiskMakesNoDownloadOfWhatIsOnlyRead() throws {
    #expect(mount("tmpfs", user.places.cache, "tmpfs", 0, "size=2m,mode=0700") == 0)
    defer { umount2(user.places.cache, Int32(MNT_DETACH)) }
    let ballast = user.places.cache + "/ballast"
    try Directories.replace(ballast, with: [UInt8](repeating: 1, count: 1_900_000))
    let body = TestBody(seed: 3, size: 1_500_000)
    let client = try user.client()
    let request = user.serve(body)
    let episode = try client.opened(request, .fetchOnly)
    #expect(episode.readFailure(at: 0, 262_144)?.errno == .ENOSPC)
    unlink(ballast)
    #expect(!client.reaches(.cached, request, within: 8))
    #expect(client.status(of: request.key)?.state == .remote)
    #expect(user.origin.sent("/a.mp3") < 1_000_000)
  }

  /// A cache disk that has become read-only keeps what is dropped: that is said, and it still counts.
  @Test(.enabled(if: geteuid() == 0)) func whatCannotBeRemovedIsNotSaidToBeGone() throws {
    #expect(mount("tmpfs", user.places.cache, "tmpfs", 0, "size=8m,mode=0700") == 0)
    defer { umount2(user.places.cache, Int32(MNT_DETACH)) }
    let body = TestBody(seed: 4, size: 1_500_000)
    let client = try user.client()
    let request = user.serve(body)
    let episode = try client.opened(request)
    #expect(body.firstDifference(try episode.readAll()) == nil)
    episode.close()
    #expect(client.reaches(.cached, request) && user.filesAreClosed(request))
    func remount(_ flags: Int) -> Bool {
      mount("tmpfs", user.places.cache, "tmpfs", UInt(MS_REMOUNT) | UInt(flags), "size=8m,mode=0700") == 0
    }
    func drop() -> TransferFailure? {
      let answer = Monitor<TransferFailure??>(nil)
      client.order(.drop(request.key)) { failure in answer.withLockNotifying { $0 = .some(failure) } }
      return answer.wait(until: .after(patience)) { $0 } ?? nil
    }
    #expect(eventually { remount(Int(MS_RDONLY)) })
    #expect(drop()?.errno == .EROFS)
    #expect(eventually { client.status(of: request.key)?.received == body.size })
    #expect(remount(0))
    #expect(drop() == nil)
    #expect(!user.layout.hasData(request.key, user.generation(request)))
    #expect(client.status(of: request.key)?.received == 0)
  }

  /// What is ordered while the cache disk is read-only comes when the disk can be written again.
  @Test(.enabled(if: geteuid() == 0)) func aReadOnlyCacheFailsNoDownloadForGood() throws {
    #expect(mount("tmpfs", user.places.cache, "tmpfs", 0, "size=8m,mode=0700") == 0)
    defer { umount2(user.places.cache, Int32(MNT_DETACH)) }
    let body = TestBody(seed: 5, size: 1_500_000)
    let (client, ordered) = (try user.client(), user.serve(body))
    let opened = user.serve(body, at: "/b.mp3")
    try user.layout.create()
    func remount(_ flags: Int) -> Bool {
      mount("tmpfs", user.places.cache, "tmpfs", UInt(MS_REMOUNT) | UInt(flags), "size=8m,mode=0700") == 0
    }
    #expect(remount(Int(MS_RDONLY)))
    #expect(client.confirmed { $0.order(.start(ordered), completion: $1) })
    #expect(eventually { client.status(of: ordered.key)?.error == "the cache's disk is read-only" })
    #expect(client.status(of: ordered.key)?.state == .queued)
    #expect(client.openFailure(opened)?.errno == .EROFS)
    #expect(remount(0))
    for request in [ordered, opened] { #expect(client.reaches(.cached, request)) }
  }

  /// What was stored outlives a runtime directory that takes no map.
  @Test func noRoomForAMapLosesNoBytes() throws {
    let body = TestBody(seed: 9, size: 4_000_000)
    let request = user.serve(body, .with { $0.rate = 1_000_000 })
    let client = try user.client()
    let episode = try client.opened(request)
    for piece in 0..<15 { _ = try episode.read(at: Int64(piece) * 100_000, 100_000) }
    #expect(client.confirmed { $0.order(.pause(request), completion: $1) })
    episode.close()
    #expect(eventually { client.status(of: request.key)?.received ?? 0 > 1_400_000 })
    #expect(user.filesAreClosed(request))
    #expect(user.killDaemon())
    let map = user.layout.map(request.key, user.generation(request))
    unlink(map)
    // As where the runtime directory is full.
    mkdir(map, 0o700)
    #expect(client.confirmed { $0.order(.start(request), completion: $1) })
    _ = client.reaches(.downloading, request, within: 5)
    rmdir(map)
    #expect(client.reaches(.cached, request))
    #expect(user.origin.sent("/a.mp3") < body.size + 700_000, "\(user.origin.sent("/a.mp3"))")
  }

  /// A journal that can't grow on a full disk must not keep the daemon busy.
  @Test(
    .enabled(if: geteuid() == 0),
    .enabled(if: !Sanitizer.keepsBusy, "a sanitizer's thread is never at rest"))
  func aJournalThatCannotGrowKeepsNobodyBusy() throws {
    #expect(mount("tmpfs", user.places.cache, "tmpfs", 0, "size=2304k,mode=0700") == 0)
    defer { umount2(user.places.cache, Int32(MNT_DETACH)) }
    let body = TestBody(seed: 11, size: 8_000_000)
    let client = try user.client()
    let request = user.serve(body, .with { $0.rate = 1_000_000 })
    let episode = try client.opened(request)
    _ = try episode.read(at: 0, 500_000)
    #expect(client.confirmed { $0.order(.pause(request), completion: $1) })
    episode.close()
    #expect(user.filesAreClosed(request))
    #expect(user.killDaemon())
    // A long journal: its last record again and again, up to nearly a whole page.
    let path = user.layout.journal(request.key, user.generation(request))
    let bytes = try Directories.read(path)
    let base = RangeJournal(reading: path)
    var size = 1
    while size < bytes.count {
      let cut = user.places.state + "/cut"
      try Directories.replace(cut, with: Array(bytes.dropLast(size)))
      if RangeJournal(reading: cut).length == Int64(bytes.count - size) { break }
      size += 1
    }
    #expect(base.length == Int64(bytes.count))
    var long = bytes
    while long.count + size <= 4096 { long += bytes.suffix(size) }
    let file = open(path, O_WRONLY)
    #expect(long.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, 0) } == long.count)
    Glibc.close(file)
    #expect(RangeJournal(reading: path).length == Int64(long.count))
    user.origin.change("/a.mp3") { $0.behaviour.rate = nil }
    let again = try client.opened(request)
    _ = try? again.readAll()
    #expect(eventually { client.status(of: request.key)?.error?.hasPrefix("no space left") == true })
    again.close()
    #expect(user.daemonIsAtRest())
  }

  /// The runtime directory is full: downloads wait, say so, and go on when there is room; nothing is evicted.
  @Test(.enabled(if: geteuid() == 0)) func downloadsWaitForRoomForTheirMaps() throws {
    try user.layout.create()
    let body = TestBody(seed: 16, size: 3_000_000)
    let (first, second) = (user.serve(body), user.serve(body, at: "/b.mp3"))
    let client = try user.client()
    #expect(body.firstDifference(try client.opened(first).readAll()) == nil)
    #expect(client.reaches(.cached, first))
    #expect(mount("tmpfs", user.layout.maps, "tmpfs", 0, "size=4k,mode=0700") == 0)
    do {
      defer { umount2(user.layout.maps, Int32(MNT_DETACH)) }
      let failure = try #require(client.openFailure(second))
      #expect(failure.message.contains(user.layout.maps), "\(failure)")
      #expect(client.status(of: first.key)?.state == .cached)
    }
    #expect(client.confirmed { $0.order(.start(second), completion: $1) })
    #expect(client.reaches(.cached, second))
  }
}
