import Configuration
import Glibc
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol

/// No descriptor is left: the daemon's limit, or the mount's.
@Suite struct DescriptorTests {
  let user: TransferFixture
  let body = TestBody(seed: 61, size: 300_000)

  init() throws { user = try TransferFixture() }

  /// Sets a process's limit (prlimit(1)).
  private func limit(_ process: Int32, to count: Int) throws {
    let result = try ChildProcess.run(["prlimit", "--pid", "\(process)", "--nofile=\(count):"])
    #expect(result.status == 0, "\(result.errors)")
  }

  /// - Parameter hasReserve: whether it can give up the one that it keeps to send away who comes.
  @Test(
    .enabled(if: Products.isInstalled("prlimit"), "prlimit is not installed"),
    .enabled(if: !Sanitizer.keepsBusy, "a sanitizer's thread is never at rest"), arguments: [true, false])
  func whoComesToADaemonWithoutDescriptorsKeepsItNotBusy(hasReserve: Bool) throws {
    let client = try user.client()
    let first = user.serve(body)
    #expect(client.confirmed { $0.order(.start(first), completion: $1) })
    #expect(client.reaches(.cached, first))
    let daemon = try #require(user.daemon)
    #expect(user.daemonIsAtRest())
    let open = Set(try Directories.names(in: "/proc/\(daemon)/fd").compactMap { Int($0) })
    // A new one gets the lowest number that is free, below the limit.
    try limit(daemon, to: hasReserve ? (0...).first { !open.contains($0) } ?? 0 : 3)
    do {
      let sockets = (0..<20).compactMap { _ in
        (try? UnixSocket.connect(to: user.places.runtime + "/transferd.sock"))?.release()
      }
      defer { for socket in sockets { close(socket) } }
      #expect(!sockets.isEmpty)
      #expect(user.daemonIsAtRest())
    }
    // Who is served already goes on, and others are when there are some again.
    try limit(daemon, to: 1024)
    #expect(client.confirmed { $0.order(.setKept(first, true), completion: $1) })
    let other = try user.client(isMount: false)
    #expect(other.confirmed { $0.order(.setKept(first, false), completion: $1) })
    #expect(user.daemon == daemon)
  }

  private static let marker = "PODCASTFS_TEST_WITHOUT_DESCRIPTORS"
  private static let isInside = Places.processEnvironment[marker] != nil

  /// In a process of its own, whose limit others don't feel.
  @Test(.enabled(if: !isInside)) func readersOfAMountWithoutDescriptorsHearSo() throws {
    var environment = Places.processEnvironment
    environment[Self.marker] = "1"
    let inner = try RunningProcess(
      Products.path("podcastfsPackageTests.xctest"),
      ["--testing-library", "swift-testing", "--filter", "DescriptorTests/inAProcessWithoutDescriptors"],
      environment: environment)
    #expect(inner.wait(seconds: 120) == .exit(0), "\(inner.output)\(inner.errors)")
    let story = inner.output + inner.errors
    #expect(story.contains("inAProcessWithoutDescriptors() passed"), "\(story)")
  }

  @Test(.enabled(if: isInside, "part of the test above")) func inAProcessWithoutDescriptors() throws {
    let client = try user.client()
    let request = user.serve(body)
    #expect(client.confirmed { $0.order(.start(request), completion: $1) })
    #expect(client.reaches(.cached, request))
    var taken: [Int32] = []
    while case let file = open("/dev/null", O_RDONLY | O_CLOEXEC), file >= 0 { taken.append(file) }
    #expect(Errno.current == .EMFILE)
    for intent in [OpenIntent.download, .fetchOnly] {
      var failure: TransferFailure?
      do {
        let episode = try client.opened(request, intent)
        failure = episode.readFailure(at: 0)
      } catch {
        failure = error as? TransferFailure
      }
      #expect(failure?.errno == .ENFILE, "\(intent): \(String(describing: failure))")
      #expect(failure?.message.contains("Too many open files") == true, "\(String(describing: failure))")
      // It is no failure of the episode.
      #expect(client.status(of: request.key)?.reason == nil)
    }
    for file in taken { close(file) }
    for intent in [OpenIntent.download, .fetchOnly] {
      #expect(body.firstDifference(try client.opened(request, intent).readAll()) == nil)
    }
  }
}
