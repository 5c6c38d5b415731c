import PosixKit
import TestSupport
import Testing

@testable import PodcastTree

@Suite struct UploadTests {
  @Test func aNameGoesTenSecondsAfterTheLastClose() throws {
    let upload = try Upload(node: NodeID(.upload, 1), name: "list.opml") { _ in
      .value(())
    } onIdle: { _ in
    }
    #expect(!upload.isExpired(at: .distantFuture))
    upload.open().close()
    let first = MonotonicTime.now
    #expect(eventually { MonotonicTime.now > first })
    let file = upload.open()
    #expect(!upload.isExpired(at: first.adding(100)))
    file.close()
    #expect(!upload.isExpired(at: first.adding(10)))
    #expect(upload.isExpired(at: .after(10)))
  }

  /// A list or a backup is held in memory: what is longer fails at once, and again at close, and nothing of it is read.
  @Test func whatIsLongerThanABackupMayBeIsRefused() throws {
    let imported = Monitor<[[UInt8]]>([])
    let upload = try Upload(node: NodeID(.upload, 1), name: "list.opml", limit: 8) { bytes in
      imported.withLock { $0.append(bytes) }
      return .value(())
    } onIdle: { _ in
    }
    func write(_ text: String, at offset: Int64) -> Result<Int, Errno> {
      Array(text.utf8).withUnsafeBytes { upload.write(at: offset, $0) }
    }
    let file = upload.open()
    #expect(write("<opml", at: 0) == .success(5))
    for (text, offset) in [("/more", 5), ("x", 8), ("x", .max), ("x", -1)] as [(String, Int64)] {
      #expect(write(text, at: offset) == .failure(.EFBIG))
    }
    #expect(upload.truncate(to: 9) == .EFBIG && upload.truncate(to: -1) == .EFBIG)
    #expect(failure(upload.flush()) == .EFBIG)
    file.close()
    #expect(!upload.isExpired(at: .now) && upload.isExpired(at: .after(Upload.lifetime)))
    // Written anew, it is read.
    #expect(upload.truncate(to: 0) == nil && write("<opml/>", at: 0) == .success(7))
    try wait(upload.flush())
    #expect(imported.withLock { $0 } == [Array("<opml/>".utf8)])
  }
}
