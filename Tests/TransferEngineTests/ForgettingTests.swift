import PodcastModel
import Testing
import TransferEngine
import TransferProtocol

/// What leaves the store of transfers.
@Suite struct ForgettingTests {
  private static let url = "http://media.example/1.mp3"
  private static let request = TransferRequest(
    key: MediaKey(address: WebAddress(url)), url: url, title: "", show: "", fileName: "")

  /// Rows that were deleted after a download of which something was here was given up, and others were wanted.
  private func removed(
    after message: ClientMessage, then others: [ClientMessage] = [], isKept: Bool = false, seconds: Double
  ) -> [MediaKey] {
    var record = TransferRecord(request: Self.request)
    (record.state, record.generation, record.total, record.received) = (.cached, 3, 1000, 1000)
    record.isKept = isKept
    let client = ClientID(1)
    var settings = TransferSettings()
    settings.minimumFree = 0
    func moment(_ seconds: Double) -> Moment {
      Moment(instant: Instant(nanoseconds: Int64(seconds * 1e9)), wall: Int64(seconds))
    }
    let engine = Engine(records: [record], settings: settings, seed: 1, now: moment(1000))
    var now = 1000.0
    var removed: [MediaKey] = []
    var effects = engine.start()
    var events: [Event] = [.joined(client, observes: false, answersAddresses: false), .said(client, message)]
    events += others.map { .said(client, $0) }
    let end = now + seconds
    while true {
      for effect in effects {
        switch effect {
        case .store(let store, .open): events.append(.disk(store, .missing))
        case .listFiles: events.insert(.found([]), at: 0)
        case .remove(let key, _): events.append(.removed(key))
        case .save(let id, _, let keys):
          removed += keys
          events.append(.saved(id, nil))
        default: break
        }
      }
      now += 0.5
      if events.isEmpty && now > end { return removed }
      effects = engine.handle(events.isEmpty ? .timer : events.removeFirst(), at: moment(now))
    }
  }

  @Test func whatIsForgottenLeavesNoLineAndWhatIsDroppedDoes() {
    let key = Self.request.key
    #expect(removed(after: .forget(id: 1, key), seconds: 90) == [key])
    #expect(removed(after: .forget(id: 1, key), isKept: true, seconds: 90) == [key])
    #expect(removed(after: .drop(id: 1, key), seconds: 90) == [])
  }

  @Test func whatIsWantedAgainMeanwhileStays() {
    let key = Self.request.key
    #expect(
      removed(
        after: .forget(id: 1, key), then: [.pause(id: 2, Self.request), .drop(id: 3, key)], seconds: 90) == []
    )
  }
}
