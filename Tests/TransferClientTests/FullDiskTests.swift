import Configuration
import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol

/// A disk that is really full.
@Suite(.enabled(if: geteuid() == 0, "mounting a small disk takes root")) struct FullDiskTests {
  @Test func aFullDiskEndsReadersAtOnceKeepsTheBytesAndHeals() throws {
    let user = try TransferFixture()
    #expect(mount("tmpfs", user.places.cache, "tmpfs", 0, "size=2m,mode=0700") == 0)
    defer { umount2(user.places.cache, Int32(MNT_DETACH)) }
    let body = TestBody(seed: 71, size: 1_500_000)
    let ballast = user.places.cache + "/ballast"
    try Directories.replace(ballast, with: [UInt8](repeating: 1, count: 1_200_000))

    let client = try user.client { $0.minimumFree = 0 }
    let request = user.serve(body)
    let episode = try client.opened(request)
    let failure = #expect(throws: TransferFailure.self) { try episode.readAll() }
    #expect(failure?.errno == .ENOSPC)
    let status = try #require(client.status(of: request.key))
    #expect(status.state == .queued || status.state == .downloading)
    #expect(status.error?.hasPrefix("no space left") == true)
    #expect(body.firstDifference(try episode.read(at: 0, 65_536)) == nil)

    unlink(ballast)
    #expect(client.reaches(.cached, request))
    #expect(body.firstDifference(try episode.readAll()) == nil)
    #expect(user.origin.sent("/a.mp3") < body.size + 1_200_000)
  }

  /// The daemon says what is full, and serves as soon as there is room for a live map.
  @Test func aDaemonBeginsWhereTheRuntimeFolderIsFull() throws {
    let user = try TransferFixture()
    #expect(mount("tmpfs", user.places.runtime, "tmpfs", 0, "size=64k,mode=0700") == 0)
    defer { umount2(user.places.runtime, Int32(MNT_DETACH)) }
    let ballast = open(user.places.runtime + "/ballast", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    let block = [UInt8](repeating: 1, count: 512)
    while write(ballast, block, block.count) > 0 {}
    close(ballast)
    let body = TestBody(seed: 74, size: 300_000)
    let client = try user.client()
    let request = user.serve(body)
    let failure = try #require(client.openFailure(request))
    #expect(failure.message.contains(user.places.runtime), "\(failure)")
    unlink(user.places.runtime + "/ballast")
    #expect(body.firstDifference(try client.opened(request).readAll()) == nil)
    #expect(client.reaches(.cached, request))
  }

  @Test func anOpenReaderNeverTouchesWhatIsToStayFree() throws {
    let user = try TransferFixture()
    #expect(mount("tmpfs", user.places.cache, "tmpfs", 0, "size=24m,mode=0700") == 0)
    defer { umount2(user.places.cache, Int32(MNT_DETACH)) }
    let kept = TestBody(seed: 72, size: 6_000_000)
    let wanted = TestBody(seed: 73, size: 14_000_000)
    let free: Int64 = 8 << 20
    let client = try user.client { $0.minimumFree = free }
    let old = user.serve(kept, at: "/kept.mp3")
    #expect(client.confirmed { $0.order(.setKept(old, true), completion: $1) })
    #expect(client.confirmed { $0.order(.start(old), completion: $1) })
    #expect(client.reaches(.cached, old))
    let request = user.serve(wanted, at: "/wanted.mp3")
    let episode = try client.opened(request)
    let failure = #expect(throws: TransferFailure.self) { try episode.readAll() }
    #expect(failure?.errno == .ENOSPC)
    #expect((DiskSpace.available(at: user.places.cache) ?? 0) >= free)
    // What came is kept, and what may go makes room for the rest.
    #expect(client.status(of: request.key)?.error?.hasPrefix("no space left") == true)
    #expect(client.confirmed { $0.order(.setKept(old, false), completion: $1) })
    #expect(client.reaches(.cached, request))
    #expect(wanted.firstDifference(try episode.readAll()) == nil)
    #expect(client.status(of: old.key)?.state == .remote)
    // What was on its way when the disk was full is lost: the sockets' buffers.
    #expect(user.origin.sent("/wanted.mp3") <= wanted.size + 8_000_000)
  }
}
