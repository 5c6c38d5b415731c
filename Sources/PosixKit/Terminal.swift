internal import CLinux
internal import Glibc

/// A descriptor that may be a terminal.
package struct Terminal: Sendable {
  package let descriptor: Int32

  package init(descriptor: Int32) { self.descriptor = descriptor }

  package static let output = Terminal(descriptor: STDOUT_FILENO)
  package static let errors = Terminal(descriptor: STDERR_FILENO)

  package var isTerminal: Bool { isatty(descriptor) == 1 }

  /// Columns and rows; 80 by 24 where the terminal does not say.
  package var size: (columns: Int, rows: Int) {
    var columns: Int32 = 0
    var rows: Int32 = 0
    guard podcastfs_terminal_size(descriptor, &columns, &rows) == 0, columns > 0, rows > 0 else {
      return (80, 24)
    }
    return (Int(columns), Int(rows))
  }
}
