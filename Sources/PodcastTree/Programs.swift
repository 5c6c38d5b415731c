internal import Configuration
internal import PosixKit

/// A program that asks for something.
package struct Program: Hashable, Sendable {
  /// The process's number: the thread group's leader.
  package var process: Int32
  /// Its name, at most 15 bytes (proc(5), comm).
  package var name: String
  /// When it started, in the kernel's ticks: tells a process from an earlier one of the same number.
  package var started: UInt64

  package init(process: Int32, name: String, started: UInt64) {
    self.process = process
    self.name = name
    self.started = started
  }
}

/// Tells which program a request comes from.
package protocol ProgramTable: Sendable {
  /// The process that `thread` belongs to; nil where it can't be told: it has ended, or lives in another pid
  /// namespace.
  func program(ofThread thread: Int32) -> Program?
  /// The words that it was started with.
  func arguments(of program: Program) -> [String]
}

/// The programs that run, by proc(5).
package struct RunningPrograms: ProgramTable {
  package init() {}

  package func program(ofThread thread: Int32) -> Program? {
    guard thread > 0, let status = try? Directories.read("/proc/\(thread)/status", limit: 4096),
      let line = status.split(separator: 0x0a, maxSplits: 10).first(where: { $0.starts(with: "Tgid:".utf8) }),
      let leader = Self.number(line.drop { !Self.isDigit($0) }),
      let stat = try? Directories.read("/proc/\(leader)/stat", limit: 4096),
      // "PID (NAME) STATE …": the name may hold blanks and brackets.
      let open = stat.firstIndex(of: 0x28), let close = stat.lastIndex(of: 0x29), open < close
    else { return nil }
    let fields = stat[(close + 1)...].split(separator: 0x20, maxSplits: 20)
    return Program(
      process: Int32(leader), name: String(decoding: stat[(open + 1)..<close], as: UTF8.self),
      started: fields.count > 19 ? Self.number(fields[19]) ?? 0 : 0)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  private static func number(_ text: ArraySlice<UInt8>) -> UInt64? {
    UInt64(String(decoding: text.prefix { isDigit($0) }, as: UTF8.self))
  }

  package func arguments(of program: Program) -> [String] {
    guard let bytes = try? Directories.read("/proc/\(program.process)/cmdline", limit: 4096) else {
      return []
    }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\0").map(String.init)
  }
}

extension PodcastTree {
  /// Whether the calling program is one whose open starts nothing: of `no_trigger`, or another user's.
  func isBarred(_ caller: Caller) -> Bool {
    isBarred(caller, programs.program(ofThread: caller.thread))
  }

  func isBarred(_ caller: Caller, _ program: Program?) -> Bool {
    if !owner.admits(caller) { return true }
    guard let program else { return false }
    if settings.noTrigger.contains(where: { $0.utf8.prefix(15).elementsEqual(program.name.utf8) }) {
      return true
    }
    // One program with many tasks (KDE's workers) says which in a word of its arguments.
    let words = settings.noTrigger.filter { $0.contains(".") }
    if words.isEmpty { return false }
    return programs.arguments(of: program).dropFirst().contains { argument in
      words.contains { argument == $0 || argument.hasSuffix("/" + $0) }
    }
  }
}
