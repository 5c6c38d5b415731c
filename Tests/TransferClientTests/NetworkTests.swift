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

  @Test(.enabled(if: isPossible && !isInside, "a network of its own takes root and iproute2"))
  func whatFailedForWantOfANetworkIsTriedAtOnceWhenItIsBack() throws {
    try runAgain("inANetworkOfItsOwn")
  }

  @Test(.enabled(if: isPossible && !isInside, "a network of its own takes root and iproute2"))
  func containersThatComeAndGoAreNoNewsOfTheNetwork() throws {
    try runAgain("besideContainers")
  }

  /// One of these tests in the other network.
  private func runAgain(_ name: String) throws {
    var environment = Places.processEnvironment
    environment[Self.marker] = "1"
    // With that network's own interfaces in /sys.
    let script = "mount -t sysfs none /sys && exec \"$0\" \"$@\""
    let inner = try RunningProcess(
      "unshare",
      [
        "--net", "--mount", "sh", "-c", script, Products.path("podcastfsPackageTests.xctest"),
        "--testing-library", "swift-testing", "--filter", "NetworkTests/\(name)",
      ], environment: environment)
    #expect(inner.wait(seconds: 120) == .exit(0), "\(inner.errors)")
    let story = inner.output + inner.errors
    #expect(story.contains("\(name)() passed"), "\(story)")
  }

  /// What clears every back-off, and what does not.
  @Test(.enabled(if: isInside, "part of the test above")) func besideContainers() throws {
    try run("link", "set", "lo", "up")
    let watch = try NetworkWatch()
    try run("link", "add", "docker0", "type", "bridge")
    try run("addr", "add", "172.17.0.1/16", "dev", "docker0")
    try run("link", "set", "docker0", "up")
    #expect(!watch.hasChanged())
    try run("link", "add", "veth0", "type", "veth", "peer", "name", "eth7")
    try run("addr", "add", "172.17.0.9/16", "dev", "eth7")
    for words in [["veth0", "master", "docker0"], ["veth0", "up"], ["eth7", "up"]] {
      try run(["link", "set"] + words)
    }
    #expect(!watch.hasChanged())
    try run("link", "del", "veth0")
    #expect(!watch.hasChanged())
    // What others are reached by.
    try run("addr", "add", "10.9.0.2/24", "dev", "lo")
    #expect(watch.hasChanged())
    #expect(!watch.hasChanged())
    try run("route", "add", "default", "dev", "lo")
    #expect(watch.hasChanged())
    // A bridge may be the way, too.
    try run("route", "replace", "default", "via", "172.17.0.5")
    #expect(watch.hasChanged())
    try run("addr", "add", "172.17.0.2/16", "dev", "docker0")
    #expect(watch.hasChanged())
  }

  @Test(.enabled(if: isInside, "part of the test above")) func inANetworkOfItsOwn() throws {
    try run("link", "set", "lo", "up")
    let user = try TransferFixture()
    let body = TestBody(seed: 101, size: 400_000)
    let request = user.serve(body)
    let client = try user.client()
    try run("addr", "del", "127.0.0.1/8", "dev", "lo")
    #expect(client.confirmed { $0.order(.start(request), completion: $1) })
    #expect(eventually { client.status(of: request.key)?.error != nil })
    let error = client.status(of: request.key)?.error ?? ""
    #expect(error.lowercased().contains("network") && error.contains("127.0.0.1"), "\(error)")
    // Tries after 0.5, 1, 2, 4, 8 and 16 seconds, more or less: the next would be in half a minute.
    #expect(!client.reaches(.cached, request, within: 33))
    try run("addr", "add", "127.0.0.1/8", "dev", "lo")
    #expect(client.reaches(.cached, request, within: 25))
    #expect(body.firstDifference(try client.opened(request).readAll()) == nil)
  }

  private func run(_ arguments: String...) throws { try run(arguments) }

  private func run(_ arguments: [String]) throws {
    let result = try ChildProcess.run(["ip"] + arguments)
    #expect(result.status == 0)
  }
}
