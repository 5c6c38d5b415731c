import Configuration
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol

/// A thousand in the queue, two hundred readers, sixty-four at once.
@Suite struct ManyTransfersTests {
  let user: TransferFixture
  let body = TestBody(seed: 42, size: 1_000_000)

  init() throws { user = try TransferFixture() }

  @Test(.enabled(if: !Sanitizer.isOn, "a sanitizer takes memory and threads of its own"))
  func manyReadersAndAQueueAreServedWithoutAThreadEach() throws {
    let client = try user.client {
      $0.downloads = 64
      $0.perHost = 64
    }
    // Sixty-four that come, slowly enough to be there together.
    for number in 0..<64 {
      var resource = OriginResource(TestBody(seed: UInt64(number), size: 40_000_000))
      resource.behaviour.rate = 500_000
      let url = user.origin.serve("/active/\(number).mp3", resource)
      client.order(.start(TransferFixture.request(url))) { _ in }
    }
    #expect(eventually(within: 120) { client.allStatuses().count { $0.received > 0 } == 64 })
    // A thousand in the queue of a host that says nothing, two hundred readers waiting for theirs.
    for number in 0..<1000 {
      user.origin.serve("/queued/\(number).mp3", silent(number))
    }
    let orders = Monitor(0)
    for number in 0..<1000 {
      let request = TransferFixture.request(user.origin.url("/queued/\(number).mp3"))
      client.order(.start(request)) { _ in orders.withLockNotifying { $0 += 1 } }
    }
    #expect(orders.wait(until: .after(120)) { $0 == 1000 ? true : nil } == true)
    let waiting = Monitor(0)
    for number in 0..<200 {
      let path = "/open/\(number).mp3"
      user.origin.serve(path, silent(number))
      _ = client.open(TransferFixture.request(user.origin.url(path)), intent: .download) { _ in
        waiting.withLockNotifying { $0 += 1 }
      }
    }
    #expect(eventually(within: 120) { user.origin.active >= 200 })

    // Beside them a file is fetched and read, and what is here is read at once.
    let request = user.serve(body)
    let episode = try client.opened(request)
    #expect(body.firstDifference(try episode.readAll()) == nil)
    #expect(client.reaches(.cached, request))
    let daemon = try #require(user.daemon)
    // Few, but for those that wait for a slow disk: none for a reader, or for what is queued.
    #expect(threads(of: daemon) <= 40)
    #expect(client.allStatuses().count == 1265)
    #expect(waiting.withLock { $0 } == 0)
    #expect(client.allStatuses().count { $0.state == .cached } <= 1, "they were not active together")
    // Beside the pages of its program and libraries. A debug build takes more than a release build.
    let peak = kilobytes("VmHWM:", of: daemon) - kilobytes("RssFile:", of: daemon)
    #expect(peak < 48 << 10)
    print("daemon: \(threads(of: daemon)) threads, \(peak) KiB at most")
  }

  private func silent(_ number: Int) -> OriginResource {
    var resource = OriginResource(TestBody(seed: UInt64(number), size: 100_000))
    resource.behaviour.latency = 300
    return resource
  }

  private func threads(of process: Int32) -> Int {
    (try? Directories.names(in: "/proc/\(process)/task").count) ?? 0
  }

  private func kilobytes(_ label: String, of process: Int32) -> Int {
    let bytes = (try? Directories.read("/proc/\(process)/status")) ?? []
    let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix(label) }
    return line?.split(separator: " ").compactMap { Int($0) }.first ?? 0
  }
}
