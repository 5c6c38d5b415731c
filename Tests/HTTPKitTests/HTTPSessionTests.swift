import HTTPKit
import HTTPServerKit
import PosixKit
import TestSupport
import Testing

/// A session on a loop, as the transfer daemon has it.
@Suite struct HTTPSessionTests {
  private let looped: LoopedSession

  init() throws { looped = try LoopedSession() }

  @Test func aPausedRequestTakesNothingMoreAndGoesOnWhereItWas() throws {
    let body = (0..<24_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let server = try HTTPServer { request, writer throws(ResponseWriter.Ended) in
      try writer.respond(200, body: request.path == "/other" ? [1] : body)
    }
    defer { server.stop() }
    let receiver = RecordingReceiver()
    let task = try looped.start(.local(server.address), receiver)
    #expect(receiver.record { !$0.body.isEmpty } != nil)
    try looped.run { $0.pause(task) }
    let early = try #require(receiver.record { _ in true }).body.count
    // By the time that another request has ended, the rest would have come.
    let other = RecordingReceiver()
    _ = try looped.start(.local(server.address + "/other"), other)
    #expect(other.ended?.body == [1])
    let later = try #require(receiver.record { _ in true })
    #expect(later.ends.isEmpty && later.body.count < early + 1_000_000)
    try looped.run { $0.resume(task) }
    #expect(receiver.ended?.ends == [nil])
    #expect(receiver.ended?.body == body)
  }

  @Test func aReceiverMayPauseItsRequestWhileItHears() throws {
    let body = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 17) }
    let server = try HTTPServer { _, writer throws(ResponseWriter.Ended) in
      try writer.respond(200, body: body)
    }
    defer { server.stop() }
    let (looped, task) = (looped, Monitor<HTTPSession.TaskID?>(nil))
    // As the daemon does: it takes a piece, rests, and goes on in the loop's next turn.
    let receiver = RecordingReceiver(onBody: { _ in
      guard let id = task.withLock({ $0 }) else { return .proceed }
      looped.loop.async { looped.resume(id) }
      looped.pause(id)
      return .proceed
    })
    let id = try looped.start(.local(server.address), receiver)
    task.withLock { $0 = id }
    #expect(receiver.ended?.ends == [nil])
    #expect(receiver.ended?.body == body)
  }

  @Test func aPausedRequestDoesNotStall() throws {
    let server = try HTTPServer { request, writer throws(ResponseWriter.Ended) in
      try writer.begin(200, length: 4_000_000)
      for _ in 0..<4 { try writer.write([UInt8](repeating: 7, count: 1_000_000)) }
    }
    defer { server.stop() }
    let receiver = RecordingReceiver()
    let task = try looped.start(.local(server.address) { $0.stallTimeout = 0.2 }, receiver)
    try looped.run { $0.pause(task) }
    // Another one stalls meanwhile.
    let silent = try HTTPServer { _, writer throws(ResponseWriter.Ended) in try writer.pause(60) }
    defer { silent.stop() }
    let other = RecordingReceiver()
    _ = try looped.start(.local(silent.address) { $0.stallTimeout = 0.4 }, other)
    #expect(other.ended?.ends.first??.code == .stalled)
    try looped.run { $0.resume(task) }
    #expect(receiver.ended?.ends == [nil])
  }

  @Test func aCancelledRequestEndsOnceAndAStoppedSessionEndsTheRest() throws {
    let server = try HTTPServer { _, writer throws(ResponseWriter.Ended) in try writer.pause(60) }
    defer { server.stop() }
    let receivers = (0..<3).map { _ in RecordingReceiver() }
    let tasks = try receivers.map { try looped.start(.local(server.address), $0) }
    try looped.run {
      $0.cancel(tasks[0])
      $0.cancel(tasks[0])
    }
    #expect(receivers[0].ended?.ends == [.cancelled])
    try looped.run { $0.stop() }
    let late = RecordingReceiver()
    _ = try looped.start(.local(server.address), late)
    for receiver in receivers + [late] { #expect(receiver.ended?.ends == [.cancelled]) }
  }
}
