import PodcastModel
import Testing
import TransferProtocol

@testable import TransferEngine

@Suite struct CommandLogTests {
  private let now = Instant(nanoseconds: 1_000_000_000)
  private let request = TransferRequest(
    key: MediaKey(address: WebAddress("http://h.test/1")), url: "http://h.test/1", title: "", show: "",
    fileName: "")

  private func order(_ id: UInt64, _ command: CommandLog.Command) -> CommandLog.Order {
    .init(name: OrderName(client: ClientID(1), id: id), key: request.key, command: command, place: 1)
  }

  private func next(_ log: inout CommandLog, _ id: UInt64, isHeld: Bool = false) -> [UInt64]? {
    log.next(SaveID(id), at: now, isHeld: { _ in isHeld })?.orders.map(\.name.id)
  }

  @Test func oneCommitIsUnderWayAtATime() {
    var log = CommandLog()
    log.append(order(1, .start(request)))
    let result1 = next(&log, 1)
    #expect(result1 == [1])
    log.append(order(2, .pause(request)))
    let result2 = next(&log, 2)
    #expect(result2 == nil)
    let result3 = log.saved(SaveID(1))?.orders.map(\.name.id)
    #expect(result3 == [1])
    let result4 = next(&log, 2)
    #expect(result4 == [2])
  }

  @Test func ordersWaitForRemovalsAndLooks() {
    var log = CommandLog()
    log.removes(request.key)
    log.append(order(1, .drop(isToldByFiles: true)))
    let result5 = next(&log, 1)
    #expect(result5 == nil)
    _ = log.removed(request.key)
    log.looks(1)
    let result6 = next(&log, 1)
    #expect(result6 == nil)
    log.looks(-1)
    let result7 = next(&log, 1, isHeld: true)
    #expect(result7 == nil)
    let result8 = next(&log, 1)
    #expect(result8 == [1])
  }

  @Test func aDropOvertakesWhatWasOrderedBefore() {
    var log = CommandLog()
    log.append(order(1, .start(request)))
    log.append(order(2, .keep(request, true)))
    let result9 = log.overtake(request.key)
    #expect(result9)
    let orders = log.next(SaveID(1), at: now, isHeld: { _ in false })?.orders
    #expect(orders?.map(\.command) == [.drop(isToldByFiles: false), .keep(request, true)])
    let result10 = log.overtake(request.key)
    #expect(!result10)
  }

  @Test func withoutOrdersAStoreThatFailsIsLeftAloneForAWhile() {
    var log = CommandLog()
    log.note(changed: request.key)
    let end = log.rest(at: now)
    let result11 = next(&log, 1)
    #expect(result11 == nil)
    let result12 = log.next(SaveID(2), at: end, isHeld: { _ in false })?.rows
    #expect(result12 == [request.key])
  }
}
