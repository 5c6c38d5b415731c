import PosixKit
import TestSupport
import Testing

@testable import PodcastTree

@Suite struct UploadTests {
  @Test func aNameGoesTenSecondsAfterTheLastClose() {
    let upload = Upload(node: NodeID(.upload, 1), name: "list.opml") { _ in
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
}
