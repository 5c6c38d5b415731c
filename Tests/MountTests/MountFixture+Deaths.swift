import Glibc
import PosixKit
import TestSupport
import Testing

/// What the tests of a mount whose process dies or is replaced have in common.
extension MountFixture {
  /// A script's programs have MNT, HOME, and podcastfs in PATH.
  func shell(_ script: String) throws -> RunningProcess {
    var variables = environment.variables
    let program = Products.path("podcastfs")
    variables["PATH"] = program.dropLast("/podcastfs".count) + ":" + Products.searchPath
    variables["MNT"] = root
    return try RunningProcess("sh", ["-c", script], environment: variables)
  }

  /// A mount with a subscription, whose first two episodes are here.
  static func prepared(size: Int64 = 600_000, rate: Int64? = nil) throws -> MountFixture {
    let fixture = try MountFixture(size: size)
    try fixture.mount()
    #expect(try fixture.run("subscribe", fixture.origin.url("/feed.xml")).end == .exit(0))
    for number in [1, 2] { #expect(try fixture.isWhole(fixture.subscribed(number), number)) }
    if let rate { fixture.origin.change("/3.mp3") { $0.behaviour.rate = rate } }
    return fixture
  }

  func subscribed(_ number: Int) -> String {
    "\(root)/Subscriptions/\(MountFixture.podcast)/\(MountFixture.names[number - 1])"
  }

  /// Kills the process that serves, once another one than `last` does.
  /// - Returns: its number.
  func killNext(after last: Int32?, _ signal: Int32 = SIGKILL) throws -> Int32 {
    let isNew = eventually { mountProcess.map { $0 != last && !Self.isEnding($0) } ?? false }
    let process = try #require(isNew ? mountProcess : nil, "keepers \(keepers)\n\(log)")
    kill(process, signal)
    return process
  }

  private static func isEnding(_ process: Int32) -> Bool {
    let text = (try? Directories.read("/proc/\(process)/stat")) ?? []
    return !text.contains(UInt8(ascii: ")")) || String(decoding: text, as: UTF8.self).contains(") Z")
  }

  /// The same program in another place: another version, as far as the mount knows.
  func copyOfTheProgram() throws -> String {
    let folder = environment.home.path("new")
    mkdir(folder, 0o755)
    for name in ["podcastfs", "podcastfs-keep", "podcastfs-transferd"] {
      #expect(try ChildProcess.run(["cp", Products.path(name), folder]).status == 0)
    }
    return folder + "/podcastfs"
  }

  func program(of process: Int32) -> String? { Directories.linkTarget("/proc/\(process)/exe") }
}
