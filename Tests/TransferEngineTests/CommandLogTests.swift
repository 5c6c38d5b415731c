import PodcastModel
import PosixKit
import Testing
import TransferProtocol

@testable import TransferEngine

@Suite struct CommandLogTests {
  private let now = Instant(nanoseconds: 1_000_000_000)
  private let request = TransferRequest(
    key: MediaKey(address: WebAddress("http://h.test/1")), url: "http://h.test/1", title: "", show: "",
    fileName: "")

  private func order(_ id: UInt64, _ order: TransferOrder) -> CommandLog.Order {
    .init(name: ClientNumber(client: ClientID(1), id: id), order: order, place: 1, time: now)
  }

  private func next(_ log: inout CommandLog, isHeld: Bool = false) -> [UInt64]? {
    log.next(at: now, held: isHeld ? [request.key] : [])?.orders.map(\.name.id)
  }

  @Test func oneCommitIsUnderWayAtATime() {
    var log = CommandLog()
    log.append(order(1, .start(request)))
    let result1 = next(&log)
    #expect(result1 == [1])
    log.append(order(2, .pause(request)))
    let result2 = next(&log)
    #expect(result2 == nil)
    let result3 = log.saved(failed: false, at: now)?.orders.map(\.name.id)
    #expect(result3 == [1])
    let result4 = next(&log)
    #expect(result4 == [2])
  }

  @Test func ordersWaitForRemovals() {
    var log = CommandLog()
    log.removes(request.key)
    log.append(order(1, .drop(request.key)))
    let result5 = next(&log)
    #expect(result5 == nil)
    _ = log.removed(request.key, nil)
    let result7 = next(&log, isHeld: true)
    #expect(result7 == nil)
    let result8 = next(&log)
    #expect(result8 == [1])
  }

  /// The order is not done where one of two names is left, whichever is answered last.
  @Test(arguments: [true, false]) func oneNameThatCannotBeRemovedRefusesTheOrder(_ isFirst: Bool) {
    var log = CommandLog()
    let failure = TransferFailure(.EIO, "I/O error")
    log.removes(request.key)
    log.removes(request.key)
    _ = log.acts(order(1, .drop(request.key)))
    let early = log.removed(request.key, isFirst ? failure : nil)
    #expect(early.orders.isEmpty)
    let last = log.removed(request.key, isFirst ? nil : failure)
    #expect(last.orders.map(\.name.id) == [1] && last.failure == failure)
  }

  @Test func withoutOrdersAStoreThatFailsIsLeftAloneForAWhile() {
    var log = CommandLog()
    log.note(changed: request.key)
    let first = next(&log)
    #expect(first == [])
    _ = log.saved(failed: true, at: now)
    log.note(changed: request.key)
    let result11 = next(&log)
    #expect(result11 == nil)
    let result12 = log.next(at: now.adding(5))?.rows
    #expect(result12 == [request.key])
  }
}
