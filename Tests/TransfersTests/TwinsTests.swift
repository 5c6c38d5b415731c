import EpisodeCache
import PodcastModel
import PosixKit
import Testing
import TransferEngine
import TransferProtocol
import Transfers

/// Which episodes may be the same audio costs one look at each journal.
@Suite struct TwinsTests {
  private let journals = Journals()
  private let twins: Twins

  init() { twins = Twins { [journals] in journals.read($0) } }

  /// What the journals say, and how often each was read.
  private final class Journals: Sendable {
    private let state = Monitor((marks: [GenerationName: AudioMark](), reads: [GenerationName: Int]()))

    func set(_ name: GenerationName, _ digest: UInt32?) {
      state.withLock { $0.marks[name] = digest.map { AudioMark(total: 1000, digest: $0) } }
    }

    func read(_ name: GenerationName) -> AudioMark? {
      state.withLock { state in
        state.reads[name, default: 0] += 1
        return state.marks[name]
      }
    }

    var reads: [GenerationName: Int] { state.withLock { $0.reads } }
  }

  private func name(_ number: Int, generation: UInt32 = 1) -> GenerationName {
    GenerationName(key: MediaKey(address: "http://a.example/\(number)"), generation: generation)
  }

  /// It has become whole.
  private func add(_ number: Int, _ digest: UInt32, generation: UInt32 = 1) -> [GenerationName] {
    journals.set(name(number, generation: generation), digest)
    return candidates(for: name(number, generation: generation))
  }

  private func candidates(for name: GenerationName) -> [GenerationName] {
    while true { if let found = twins.candidates(for: name) { return found } }
  }

  private func expect(_ numbers: Range<Int>) {
    let records = numbers.map { number in
      let url = "http://a.example/\(number)"
      var record = TransferRecord(
        request: TransferRequest(key: name(number).key, url: url, title: "", show: "", fileName: ""))
      (record.state, record.generation, record.total) = (.cached, 1, 1000)
      journals.set(name(number), UInt32(number))
      return record
    }
    twins.expect(records)
  }

  @Test func eachOfManyOfOneSizeIsReadOnce() {
    let found = (0..<3000).filter { !add($0, UInt32($0)).isEmpty }
    #expect(found.isEmpty)
    #expect(journals.reads.count == 3000 && journals.reads.values.allSatisfy { $0 == 1 })
  }

  @Test func thoseThatWereHereBeforeAreReadOnceAndAFewAtATime() {
    expect(0..<1000)
    journals.set(name(1000), 7)
    #expect(twins.candidates(for: name(1000)) == nil)
    #expect(journals.reads.count <= Twins.batch + 1)
    #expect(candidates(for: name(1000)) == [name(7)])
    #expect(add(1001, 5000).isEmpty)
    #expect(journals.reads.count == 1002 && journals.reads.values.allSatisfy { $0 == 1 })
  }

  @Test func whatHasComeAnewIsNotLookedForUnderItsOldNumber() {
    expect(0..<3)
    twins.forget(name(1).key, 1)
    journals.set(name(1), nil)
    #expect(add(1, 40, generation: 2).isEmpty)
    #expect(journals.reads[name(1)] == nil)
    #expect(add(5, 40) == [name(1, generation: 2)])
    #expect(add(6, 1).isEmpty)
  }

  @Test func whatHasGoneIsNoCandidate() {
    #expect(add(0, 9).isEmpty)
    #expect(add(1, 9) == [name(0)])
    twins.forget(name(0).key, 1)
    #expect(add(2, 9) == [name(1)])
    // An older generation of it has gone.
    #expect(add(3, 9, generation: 4).count == 2)
    twins.forget(name(3).key, 3)
    #expect(add(4, 9).first == name(3, generation: 4))
  }

  @Test func whatIsNotWholeHasNone() {
    #expect(add(0, 9).isEmpty)
    #expect(candidates(for: name(1)).isEmpty)
    #expect(add(2, 9) == [name(0)])
  }

  @Test func ofManyThatAreTheSameAFewAreTried() {
    let most = (0..<500).map { add($0, 9).count }.max()
    #expect(most == 8)
  }
}
