import Configuration
import EpisodeCache
import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol

/// Several read an episode whose files others delete, cut or drop.
@Suite struct SharedEpisodeTests {
  let user: TransferFixture
  let body = TestBody(seed: 31, size: 3_000_000)

  init() throws { user = try TransferFixture() }

  private func removeTree(_ path: String) {
    for name in (try? Directories.names(in: path)) ?? [] {
      let child = path + "/" + name
      if unlink(child) != 0 { removeTree(child) }
    }
    rmdir(path)
  }

  /// The second time just after it has been made anew, before anybody watches it.
  @Test func itOpensAfterTheCacheWasDeletedTwice() throws {
    let request = user.serve(body, .with { $0.rate = 1_000_000 })
    let client = try user.client()
    let first = try client.opened(request)
    _ = try first.read(at: 0, 100_000)
    for _ in 0..<3 {
      removeTree(user.places.cache)
      let answer = Monitor(false)
      let opening = client.open(request, intent: .download) { _ in answer.withLockNotifying { $0 = true } }
      var status = stat()
      while stat(user.layout.episodes, &status) != 0 && !answer.withLock({ $0 }) { sched_yield() }
      removeTree(user.places.cache)
      _ = answer.wait(until: .after(patience)) { $0 ? true : nil }
      opening.cancel()
      let next = try client.opened(request)
      #expect(body.firstDifference(try next.read(at: 0, 200_000)) == nil)
      next.close()
    }
    first.close()
  }

  /// Reads of what somebody else drops meanwhile fail, and nothing else does.
  @Test func whereAllOpenAndDropItNobodyFailsWithoutAReason() throws {
    let request = user.serve(body, .with { $0.rate = 20_000_000 })
    let clients = try [user.client(), user.client()]
    let right = body.bytes(0..<body.size)
    let failures = Monitor<[String: Int]>([:])
    let left = Monitor(4)
    for number in 0..<4 {
      PosixThread.start("reader") { [body] in
        var generator = SeededGenerator(seed: UInt64(number))
        for _ in 0..<60 {
          let client = clients[number % 2]
          do {
            let episode = try client.opened(request)
            defer { episode.close() }
            for _ in 0..<4 {
              let offset = Int64.random(in: 0..<body.size - 200_000, using: &generator)
              let bytes = try episode.readOnce(at: offset, 131_072)
              // Not one by one: with a sanitizer that takes minutes.
              let isRight = bytes.withUnsafeBytes { bytes in
                right.withUnsafeBytes {
                  memcmp(bytes.baseAddress!, $0.baseAddress! + Int(offset), bytes.count) == 0
                }
              }
              if !isRight { failures.withLock { $0["wrong bytes", default: 0] += 1 } }
              if Int.random(in: 0..<8, using: &generator) == 0 {
                _ = client.confirmed { $0.order(.drop(request.key), completion: $1) }
              }
            }
          } catch {
            failures.withLock { $0["\(error)", default: 0] += 1 }
          }
        }
        left.withLockNotifying { $0 -= 1 }
      }
    }
    #expect(left.wait(until: .after(patience)) { $0 == 0 ? true : nil } == true)
    let found = failures.withLock { $0 }
    let reasons = [
      "the download was cancelled", "the download was dropped or deleted",
      "the server's file has changed",
    ]
    #expect(Set(found.keys).isSubset(of: reasons), "\(found)")
  }
}

extension OpenEpisode {
  /// Reads as the mount does: what is not here when it was said to be is an error.
  fileprivate func readOnce(at offset: Int64, _ count: Int) throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: count)
    func take() -> [UInt8]? {
      buffer.withUnsafeMutableBytes { readCached(at: offset, into: $0) }.map { Array(buffer.prefix($0)) }
    }
    if let bytes = take() { return bytes }
    let answer = Monitor<TransferFailure??>(nil)
    _ = whenAvailable(at: offset, count: count) { failure in
      answer.withLockNotifying { $0 = .some(failure) }
    }
    guard let failure = answer.wait(until: .after(patience), for: { $0 }) else {
      throw TransferFailure(.ETIMEDOUT, "read did not end")
    }
    if let failure { throw failure }
    guard let bytes = take() else { throw TransferFailure(.EIO, "gone between the word and the read") }
    return bytes
  }
}
