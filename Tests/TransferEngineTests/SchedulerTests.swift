import PodcastModel
import PosixKit
import Testing
import TransferProtocol

@testable import TransferEngine

@Suite struct SchedulerTests {
  private let now = Instant(nanoseconds: 1_000_000_000)

  private func key(_ number: Int) -> MediaKey { MediaKey(address: WebAddress("http://h.test/\(number)")) }

  private func entry(_ number: Int, host: String, _ rank: Scheduler.Rank = .waiting) -> Scheduler.Entry {
    Scheduler.Entry(rank: rank, order: Int64(number), key: key(number), host: host, until: nil)
  }

  private func choose(_ scheduler: inout Scheduler, downloads: Int64 = 3, perHost: Int64 = 2) -> [MediaKey] {
    var settings = TransferSettings()
    (settings.downloads, settings.perHost) = (downloads, perHost)
    return scheduler.choose(settings, at: now, isCoolingDown: { $0.host == "cold.test" })
  }

  @Test func theQueueGoesInItsOrderAsTheLimitsAllow() {
    var scheduler = Scheduler()
    for number in [4, 2, 3, 1] { scheduler.note(key(number), entry(number, host: "a.test"), isPlaced: false) }
    scheduler.note(key(5), entry(5, host: "b.test"), isPlaced: false)
    let result1 = choose(&scheduler)
    #expect(result1 == [1, 2, 5].map(key))
    let result2 = choose(&scheduler, downloads: 1)
    #expect(result2 == [key(1)])
  }

  @Test func whatRunsComesFirstAndWhatIsTiredLast() {
    var scheduler = Scheduler()
    scheduler.note(key(1), entry(1, host: "a.test", .tired), isPlaced: false)
    scheduler.note(key(2), entry(2, host: "b.test"), isPlaced: false)
    scheduler.note(key(9), entry(9, host: "c.test", .running), isPlaced: true)
    let result3 = choose(&scheduler)
    #expect(result3 == [9, 2, 1].map(key))
    scheduler.note(key(9), nil, isPlaced: false)
    let result4 = choose(&scheduler)
    #expect(result4 == [2, 1].map(key))
    // A slow one keeps its slot while nobody else needs it.
    scheduler.note(key(7), entry(7, host: "c.test", .crawling), isPlaced: true)
    let result5 = [choose(&scheduler), choose(&scheduler, downloads: 2)]
    #expect(result5 == [[2, 1, 7].map(key), [2, 1].map(key)])
  }

  @Test func aHostThatCoolsDownIsLeftAlone() {
    var scheduler = Scheduler()
    scheduler.note(key(1), entry(1, host: "cold.test"), isPlaced: false)
    scheduler.note(key(2), entry(2, host: "a.test"), isPlaced: false)
    let result5 = choose(&scheduler)
    #expect(result5 == [key(2)])
  }
}
