internal import CLinux
internal import Glibc

package enum ProgramArguments {
  /// The program's own name, without its directory.
  package static var name: String {
    all.first.flatMap { $0.split(separator: "/").last }.map(String.init) ?? "podcastfs"
  }

  /// The program's file; the one that has taken its place, where it has been replaced.
  package static var file: String {
    let path = Directories.linkTarget("/proc/self/exe") ?? ""
    let replaced = " (deleted)"
    return path.hasSuffix(replaced) ? String(path.dropLast(replaced.count)) : path
  }

  /// The program's name first.
  ///
  /// From proc(5): Swift looks for them beside the environment on the stack, and finds none where a preloaded
  /// library has moved that.
  package static let all: [String] = {
    guard let line = try? Directories.read("/proc/self/cmdline"), line.last == 0 else {
      return CommandLine.arguments
    }
    return line.dropLast().split(separator: 0, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
  }()
}

/// How a program ends in order.
package enum ProgramEnd {
  /// Ends the program with all that was printed, but without what exit(3) would have libraries do: OpenSSL frees its
  /// tables then, while threads that are being stopped (HTTP clients') still free what lies in them.
  package static func leave(_ status: Int32) -> Never {
    fflush(nil)
    _exit(status)
  }
}

package enum StandardDescriptors {
  /// Opens /dev/null for each stream that the program was started without. Otherwise the first files that it opens would get
  /// these numbers, and its messages. Standard output is opened for reading: a write to it fails and is reported.
  package static func complete() {
    // Each open takes the lowest number that is free.
    for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
      if open("/dev/null", number == STDOUT_FILENO ? O_RDONLY : O_RDWR) < 0 { return }
    }
  }
}

/// The umask (umask(2)) that the program was started with. Its own files are for its user alone.
package enum UserMask {
  /// The one that the program was started with.
  package static let bits: UInt32 = umask(restricted)

  private static let restricted: mode_t = 0o077

  /// What the program makes is for its user alone from here on. To be called first, before other threads are there.
  package static func restrict() { _ = bits }

  /// Runs `body` with the user's own: for directories and processes that are his. Only while this is the only
  /// thread.
  package static func holding<R>(_ body: () -> R) -> R {
    umask(bits)
    defer { umask(restricted) }
    return body()
  }
}

package struct Terminal: Sendable {
  package let descriptor: Int32

  package init(descriptor: Int32) { self.descriptor = descriptor }

  package static let output = Terminal(descriptor: STDOUT_FILENO)
  package static let errors = Terminal(descriptor: STDERR_FILENO)

  package var isTerminal: Bool { isatty(descriptor) == 1 }

  /// The columns by which a character moves a terminal's cursor (wcwidth(3)).
  package static func columns(of character: Unicode.Scalar) -> Int {
    max(Int(podcastfs_columns(character.value)), 0)
  }

  /// Columns and rows; 80 by 24 where the terminal does not say.
  package var size: (columns: Int, rows: Int) {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
      return (80, 24)
    }
    return (Int(size.ws_col), Int(size.ws_row))
  }
}
