import EpisodeCache
import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing
import TransferProtocol
import TransferStore

@testable import Transfers

/// What a client costs, and hears, who reads slowly or never.
@Suite final class ClientTests {
  private let driver: EngineDriver
  private let client: Client
  private let other: FileDescriptor
  private let keys: [MediaKey]
  private let directory: TemporaryDirectory

  /// Twenty thousand downloads: tens of megabytes to tell.
  init() throws {
    var records: [TransferStatus] = []
    for number in 0..<20_000 {
      let url = "http://a.example/\(number).mp3?" + String(repeating: "t", count: 400)
      // Some have texts as long as they come.
      let title = String(repeating: "ä", count: number % 1000 == 0 ? 8000 : 200)
      let request = TransferRequest(
        key: MediaKey(address: WebAddress(url)), url: url, title: title, show: title, fileName: title)
      var record = TransferStatus(request)
      (record.state, record.order) = (.paused, Int64(number))
      records.append(record)
    }
    keys = records.map(\.key)
    directory = try TemporaryDirectory()
    let store = try TransferStore(state: directory.path)
    try store.save(records)
    driver = try EngineDriver(
      loop: EventLoop(), layout: CacheLayout(cache: directory.path("cache"), runtime: directory.path("run")),
      store: store, log: LogFile(directory.path("log")))
    let listener = try UnixSocket.listen(at: directory.path("socket"))
    other = try UnixSocket.connect(to: directory.path("socket"))
    guard let socket = UnixSocket.accept(on: listener.rawValue) else { throw PosixError.last("accept") }
    driver.serve(socket)
    client = try #require(driver.clients.values.first)
    driver.received(
      .hello(version: Frames.version, answersAddresses: false), from: try #require(driver.clients.keys.first))
  }

  /// Takes what has come.
  private func read(_ buffer: inout FrameBuffer) -> Int {
    var piece = [UInt8](repeating: 0, count: 65_536)
    var count = 0
    while case let some = recv(other.rawValue, &piece, piece.count, 0), some > 0 {
      buffer.append(piece[..<some])
      count += some
    }
    return count
  }

  /// No frame is longer than the protocol allows: each would end the connection.
  @Test func aDaemonWithTwentyThousandDownloadsStillSpeaks() throws {
    var buffer = FrameBuffer()
    var told: Set<MediaKey> = []
    var isEnded = false
    while !isEnded {
      client.socket.flush()
      #expect(client.socket.ready <= 2 * FrameSocket<ClientMessage>.mostReady)
      guard read(&buffer) > 0 else { break }
      while let message: DaemonMessage = try buffer.next() {
        switch message {
        case .welcome: break
        case .changed(let statuses, _): told.formUnion(statuses.map(\.key))
        case .snapshotEnd: isEnded = true
        default: Issue.record("\(message)")
        }
      }
    }
    #expect(isEnded)
    #expect(told.count == 20_000)
  }

  @Test func whoNeverReadsCostsANameForEachAndHearsTheEndAllTheSame() throws {
    for round in 0..<50 {
      client.untold.formUnion(keys)
      if round % 10 == 0 { client.answers.append(.answer(UInt64(round))) }
      client.socket.flush()
      #expect(client.socket.ready <= 2 * FrameSocket<ClientMessage>.mostReady)
    }
    // All that it hears later is how things are, once.
    var buffer = FrameBuffer()
    var told: [MediaKey: Int] = [:]
    var done: [UInt64] = []
    while case _ = client.socket.flush(), read(&buffer) > 0 {
      while let message: DaemonMessage = try buffer.next() {
        switch message {
        case .welcome, .snapshotEnd: break
        case .changed(let statuses, _): for status in statuses { told[status.key, default: 0] += 1 }
        case .answer(let id, _, _): done.append(id)
        default: Issue.record("\(message)")
        }
      }
    }
    #expect(told.count == 20_000)
    // Those that were made ready before are told twice.
    #expect(told.values.reduce(0, +) < 22_000)
    #expect(done == [0, 10, 20, 30, 40])
  }
}
