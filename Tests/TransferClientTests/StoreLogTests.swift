import Configuration
import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol
import TransferStore

/// What is saved goes into the store's log; to bring that into the file itself is nobody's wait.
@Suite struct StoreLogTests {
  private func request(_ number: Int, title: String = "") -> TransferRequest {
    let url = "http://media.test/\(number).mp3"
    return TransferRequest(
      key: MediaKey(address: WebAddress(url)), url: url, title: title, show: "", fileName: "")
  }

  private func size(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  private func holds(_ path: String, _ word: String) throws -> Bool {
    try String(decoding: Directories.read(path), as: UTF8.self).contains(word)
  }

  @Test func whoSavesDoesNotBringTheLogIntoTheFile() throws {
    let directory = try TemporaryDirectory()
    let store = try TransferStore(state: directory.path)
    let log = store.path + "-wal"
    let before = size(store.path)
    for number in 0..<1500 { try store.save([TransferRecord(request: request(number, title: "Zwieback"))]) }
    let all = try store.records().map(\.key)
    try store.save([], removing: all)
    #expect(size(store.path) == before)
    #expect(size(log) > 1500 * 4096)
    #expect(store.takeWrittenPages() > 1500)
    #expect(TransferStore.takeIn(logOf: store.path, emptying: true))
    #expect(size(log) == 0)
    #expect(try !holds(store.path, "Zwieback"))
  }

  /// SQLite moves rows from page to page as they grow.
  @Test func noCopyOfWhatIsForgottenIsLeftInThePages() throws {
    let directory = try TemporaryDirectory()
    let store = try TransferStore(state: directory.path)
    var random = SeededGenerator(seed: 4)
    var order = Array(0..<600)
    for _ in 0..<6 {
      order.shuffle(using: &random)
      for number in order {
        let length = Int.random(in: 0..<300, using: &random)
        let title = (number.isMultiple(of: 4) ? "Zwieback" : "Knust") + String(repeating: "y", count: length)
        try store.save([TransferRecord(request: request(number, title: title))])
      }
    }
    for record in try store.records() where record.request.title.hasPrefix("Zwieback") {
      try store.save([record.forgotten])
    }
    #expect(store.erase())
    #expect(size(store.path + "-wal") == 0)
    #expect(try !holds(store.path, "Zwieback") && holds(store.path, "Knust"))
  }

  /// Somebody who only adds to it would leave nobody the time to begin it anew.
  @Test func theLogStaysSmallWhileCommitsFollowEachOther() throws {
    let user = try TransferFixture()
    let client = try user.client()
    let orders = 8000
    let (request, left) = (user.serve(TestBody(seed: 1, size: 1000)), Monitor(orders))
    for number in 0..<orders {
      _ = client.setKept(request, number.isMultiple(of: 2)) { _ in left.withLockNotifying { $0 -= 1 } }
      // Of many at once one commit would be made.
      if number % 2 == 1 {
        #expect(left.wait(until: .after(patience)) { $0 <= orders - number - 1 ? true : nil } != nil)
      }
    }
    #expect(size(user.places.state + "/transfers.sqlite-wal") < 24 << 20)
  }

  /// A daemon that was killed may have left there what was forgotten, of which no word is to stay.
  @Test func aDaemonEmptiesTheLogThatItFinds() throws {
    let user = try TransferFixture()
    let client = try user.client()
    let log = user.places.state + "/transfers.sqlite-wal"
    #expect(client.confirmed { $0.pause(user.serve(TestBody(seed: 1, size: 1000)), completion: $1) })
    #expect(eventually { access(log, F_OK) == 0 && size(log) == 0 })
  }
}
