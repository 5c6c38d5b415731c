import Testing

@testable import TransferEngine

@Suite struct SendersTests {
  @Test func aTrackersSenderIsLearntAndForgotten() {
    var senders = Senders()
    #expect(senders.sender(behind: "tracker.test") == "tracker.test")
    senders.learn("cdn.test", behind: "tracker.test")
    #expect(senders.sender(behind: "tracker.test") == "cdn.test")
    senders.learn("tracker.test", behind: "tracker.test")
    #expect(senders.sender(behind: "tracker.test") == "tracker.test")
  }

  /// Feeds name any number of hosts.
  @Test func itRemembersABoundedNumber() {
    var senders = Senders()
    for number in 0..<100_000 {
      senders.learn("cdn\(number).test", behind: "tracker\(number).test")
    }
    #expect(senders.count <= Limits.hosts)
  }
}
