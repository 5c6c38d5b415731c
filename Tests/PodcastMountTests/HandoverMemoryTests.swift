import Glibc
import MountHandover
import PosixKit
import Testing

@Suite struct HandoverMemoryTests {
  /// The file begins small and grows with what is open.
  @Test func manyRecordsAreThereForTheNextProcess() throws {
    let memory = try HandoverMemory()
    let first = try memory.file.status().st_size
    #expect(first < 1 << 20)
    for number in 0..<3000 { #expect(memory.add(.openFile, [UInt64(number)]) == number) }
    memory.remove(2999)
    #expect(memory.add(.openFile, [2999]) == 2999)
    let next = try HandoverMemory(inherited: FileDescriptor(owning: dup(memory.file.rawValue)))
    #expect(next.records.map { $0.values[0] } == (0..<3000).map { UInt64($0) })
    #expect(next.add(.openFile, [3000]) == 3000)
    #expect(try memory.file.status().st_size > first)
  }
}
