import PosixKit
import Testing

@Suite struct DiskSpaceTests {
  @Test func aFileSystemThatTellsNoSizeIsNotFull() {
    #expect(DiskSpace.available(blocks: 0, free: 0, size: 4096) == nil)
    #expect(DiskSpace.available(blocks: 10, free: 0, size: 4096) == 0)
    #expect(DiskSpace.available(blocks: 10, free: 3, size: 4096) == 12_288)
  }

  /// Some network file systems have 2⁶⁴ - 1 blocks.
  @Test(arguments: [UInt64.max, 1 << 63, 1 << 52]) func anAbsurdSizeIsTheLargestThatThereIs(_ free: UInt64) {
    #expect(DiskSpace.available(blocks: free, free: free, size: 4096) == .max)
  }

  @Test func aDiskWithRoomHasRoom() {
    #expect(DiskSpace.available(at: "/tmp") ?? 0 > 0)
    #expect(DiskSpace.available(at: "/nowhere") == nil)
    // A file system without a size.
    #expect(DiskSpace.available(at: "/proc") == nil)
  }
}
