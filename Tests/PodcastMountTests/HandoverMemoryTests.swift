import Glibc
import MountHandover
import PosixKit
import Testing

@Suite struct HandoverMemoryTests {
  @Test func manyRecordsAreThereForTheNextProcess() throws {
    let memory = try HandoverMemory()
    for number in 0..<3000 { #expect(memory.add([UInt64(number)]) == number) }
    memory.remove(2999)
    #expect(memory.add([2999]) == 2999)
    let next = try HandoverMemory(inherited: FileDescriptor(owning: dup(memory.file.rawValue)))
    #expect(next.records.map { $0.values[0] } == (0..<3000).map { UInt64($0) })
    #expect(next.add([3000]) == 3000)
    // What does not fit is not added, and what is there stays.
    while memory.add([0]) != nil {}
    #expect(memory.records.count == 16384)
    memory.remove(5)
    #expect(memory.add([5]) == 5)
  }
}
