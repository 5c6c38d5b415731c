import Configuration
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol

/// The machine's network goes and comes back: in a network of the test's own.
@Suite struct NetworkTests {
  private static let marker = "PODCASTFS_TEST_OWN_NETWORK"
  private static let isInside = Places.processEnvironment[marker] != nil

  /// Whether this user may have a network of its own here.
  private static let isPossible =
    Products.isInstalled("ip") && (try? ChildProcess.run(["unshare", "--net", "true"]))?.status == 0

  /// The test runs itself again, in the other network.
  @Test(.enabled(if: isPossible && !isInside, "a network of its own takes root and iproute2"))
  func whatFailedForWantOfANetworkIsTriedAtOnceWhenItIsBack() throws {
    var environment = Places.processEnvironment
    environment[Self.marker] = "1"
    let inner = try RunningProcess(
      "unshare",
      [
        "--net", Products.path("podcastfsPackageTests.xctest"), "--testing-library", "swift-testing",
        "--filter", "NetworkTests/inANetworkOfItsOwn",
      ], environment: environment)
    #expect(inner.wait(seconds: 60) == .exit(0), "\(inner.errors)")
    let story = inner.output + inner.errors
    #expect(story.contains("inANetworkOfItsOwn() passed"), "\(story)")
  }

  @Test(.enabled(if: isInside, "part of the test above")) func inANetworkOfItsOwn() throws {
    try run("link", "set", "lo", "up")
    let user = try TransferFixture()
    let body = TestBody(seed: 101, size: 400_000)
    let request = user.serve(body)
    let client = try user.client()
    try run("addr", "del", "127.0.0.1/8", "dev", "lo")
    #expect(client.confirmed { $0.start(request, completion: $1) })
    #expect(eventually { client.status(of: request.key)?.error != nil })
    let error = client.status(of: request.key)?.error ?? ""
    #expect(error.lowercased().contains("network") && error.contains("127.0.0.1"), "\(error)")
    // Tries after 0.5, 1, 2 and 4 seconds, more or less: the next would be in eight.
    #expect(!client.reaches(.cached, request, within: 8.5))
    try run("addr", "add", "127.0.0.1/8", "dev", "lo")
    #expect(client.reaches(.cached, request, within: 3))
    #expect(body.firstDifference(try client.opened(request).readAll()) == nil)
  }

  private func run(_ arguments: String...) throws {
    let result = try ChildProcess.run(["ip"] + arguments)
    #expect(result.status == 0)
  }
}
