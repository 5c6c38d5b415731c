internal import Glibc

/// What the program prints.
package enum StandardStreams {
  /// A line on standard output; a reader that has gone (EPIPE) ends the program as it ends any filter.
  package static func print(_ text: String) { write(text + "\n", to: STDOUT_FILENO) }

  /// One line on standard error: "podcastfs: …".
  package static func complain(_ text: String) {
    let line = text.split(separator: "\n").joined(separator: " ")
    write("podcastfs: \(line)\n", to: STDERR_FILENO)
  }

  /// Text as it is, without a line's end.
  package static func write(_ text: String, to descriptor: Int32 = STDOUT_FILENO) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 {
        if errno == EINTR { continue }
        return
      }
      bytes = bytes.dropFirst(count)
    }
  }

  package static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
  package static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }
}
