import TestSupport
import Testing

/// What cannot be written is told: no script takes half a list for a whole one.
@Suite struct OutputTests {
  let environment: TestEnvironment

  init() throws { environment = try TestEnvironment() }

  /// Runs a line of sh(1); `podcastfs` in it is the built program.
  private func shell(_ line: String) throws -> (end: RunningProcess.End?, output: String, errors: String) {
    let process = try RunningProcess(
      "sh", ["-c", "podcastfs() { \"\(Products.path("podcastfs"))\" \"$@\"; }; \(line)"],
      environment: environment.variables)
    return (process.wait(), process.output, process.errors)
  }

  @Test(arguments: [
    "export", "export -", "list --json", "status", "status --json", "status --watch", "help", "help list",
    "help --manual", "--version", "doctor --json", "verify", "feed feed.xml",
    "feed --json feed.xml",
  ])
  func outputOnAFullDiskIsAFailure(_ call: String) throws {
    try environment.home.write(
      "feed.xml", TestFeed("Lights", items: [TestFeed.Item("One", url: "https://h/1.mp3", guid: "1")]).xml)
    let result = try shell("cd \"$HOME\" && podcastfs \(call) > /dev/full")
    #expect(result.end == .exit(1))
    let told = "podcastfs: cannot write the output: No space left on device\n"
    #expect(
      call.hasPrefix("doctor") ? result.errors.hasPrefix(told) : result.errors == told, "\(result.errors)")
  }

  @Test func aDeviceThatTakesNothingIsNamed() throws {
    let result = try shell("podcastfs export /dev/full")
    #expect(result.end == .exit(1))
    #expect(result.errors == "podcastfs: /dev/full: No space left on device\n")
  }

  @Test func outputThatIsClosedIsAFailure() throws {
    let result = try shell("podcastfs export >&-")
    #expect(result.end == .exit(1))
    #expect(result.errors == "podcastfs: cannot write the output: Bad file descriptor\n")
  }

  @Test func aPipeThatNobodyReadsEndsQuietly() throws {
    let result = try shell("{ podcastfs help; echo $? >&2; } | true")
    #expect(["141\n", "0\n"].contains(result.errors), "\(result.errors)")
  }

  @Test func aDashMeansStandardOutputAndInput() throws {
    let result = try shell(
      """
      cd "$HOME" && echo http://a.example/feed | podcastfs import --quiet - \
        && podcastfs export - | podcastfs import - && ls -a
      """)
    #expect(result.end == .exit(0) && result.output.contains("0 added, 1 known already\n"))
    #expect(!result.output.split(separator: "\n").contains("-"))
  }
}
