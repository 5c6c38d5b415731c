import PodcastModel
import PodcastTree
import PosixKit
import TestSupport
import Testing
import TransferProtocol

@Suite struct CompletionTests {
  @Test func onlyDownloadsThatBecomeCompleteMeanwhileAreTold() throws {
    let fixture = try TreeFixture()
    let told = Monitor<[String]>([])
    fixture.tree.onCompletion { entry, _ in told.withLockNotifying { $0.append(entry.episode.title) } }
    _ = try fixture.list(fixture.searched())
    let keys = (1...3).map { MediaKey(address: "http://media.example/\($0).mp3") }
    // First heard of when it has been complete for long.
    fixture.transfers.set(TransferStatus(key: keys[0], state: .cached, generation: 1, changed: 1_600_000_000))
    // Told by the daemon in one word, since it came so fast.
    fixture.transfers.set(
      TransferStatus(
        key: keys[1], state: .cached, generation: 1, changed: wallClockNanoseconds() + 1_000_000_000))
    fixture.transfers.set(TransferStatus(key: keys[2], state: .downloading))
    #expect(fixture.awaitListing(.downloading))
    fixture.transfers.set(TransferStatus(key: keys[2], state: .cached, generation: 1))
    #expect(told.wait(until: .after(patience)) { $0.count == 2 ? true : nil } ?? false)
    // What changes of it afterwards is no completion.
    fixture.transfers.set(TransferStatus(key: keys[2], state: .cached, generation: 1, isKept: true))
    fixture.transfers.set(TransferStatus(key: keys[0], state: .remote))
    fixture.transfers.set(TransferStatus(key: keys[0], state: .cached, generation: 2))
    #expect(told.wait(until: .after(patience)) { $0.contains("Part 1") ? true : nil } ?? false)
    #expect(told.withLock { $0 } == ["Part 2", "Part 3", "Part 1"])
  }
}
