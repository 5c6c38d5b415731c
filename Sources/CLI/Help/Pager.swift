internal import Configuration
internal import Glibc
internal import PosixKit

/// Shows long texts page by page, as man(1) does.
enum Pager {
  /// Prints the text. On a terminal with fewer rows, a pager shows it: the program in PAGER, else less(1), where installed.
  static func show(_ text: String) {
    let rows = text.count { $0 == "\n" } + 1
    let isTall = StandardStreams.outputIsTerminal && rows >= Terminal.output.size.rows
    if !isTall || !page(text + "\n") { StandardStreams.print(text) }
  }

  /// - Returns: whether a pager has shown the text.
  private static func page(_ text: String) -> Bool {
    var variables = Places.processEnvironment
    let command = variables["PAGER"] ?? "less"
    let program = command.prefix { $0 != " " }
    guard !["dumb", ""].contains(variables["TERM"] ?? ""), ChildProcess.find(String(program)) != nil else {
      return false
    }
    // Without these less(1) would clear the screen at its end.
    variables["LESS"] = variables["LESS"] ?? "FRX"
    guard let pipe = try? Pipe(),
      let process = try? ChildProcess.start(
        "/bin/sh", ["-c", command], environment: variables,
        files: [pipe.reader.rawValue, STDOUT_FILENO, STDERR_FILENO], isDetached: false)
    else { return false }
    // Ctrl-C is for the pager.
    signal(SIGINT, SIG_IGN)
    do {
      let writer = pipe.takeWriter()
      _ = StandardStreams.writeAll(text, to: writer.rawValue)
    }
    return (try? ChildProcess.wait(process)) != nil
  }
}
