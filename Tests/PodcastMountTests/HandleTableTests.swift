import MountHandover
import PodcastTree
import PosixKit
import Testing

@testable import FuseKit
@testable import PodcastMount

@Suite struct HandleTableTests {
  private final class ClosableFile: OpenFile {
    let closes = Monitor(0)
    var isDirect: Bool { false }
    var keepsCache: Bool { false }
    var size: Int64? { nil }
    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Result<Int, Errno>? { nil }
    func close() { closes.withLock { $0 += 1 } }
  }

  /// The process has opened the file again before the kernel sends the open that its predecessor had answered.
  @Test func aFileThatWasOpenedAgainIsClosedWhenItsOpenComesAgain() throws {
    let memory = try HandoverMemory()
    let before = HandleTable(memory: memory, [])
    let caller = FuseCaller(user: 1000, group: 1000, thread: 1, request: 7)
    let opening = HandleTable.Opening(.status, caller, writes: false)
    let handle = before.add(ClosableFile(), opening)
    let now = HandleTable(memory: memory, memory.records)
    let file = ClosableFile()
    #expect(now.restore(handle, file))
    now.forgetAnswer(to: 7)
    #expect(file.closes.withLock { $0 } == 1)
    #expect(now.file(handle) == nil)
    now.forgetAnswer(to: 7)
    #expect(file.closes.withLock { $0 } == 1)
  }
}
