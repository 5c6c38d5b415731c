internal import Glibc
internal import MountService
internal import PodcastModel
internal import PosixKit

enum StandardStreams {
  private struct Mode {
    var isQuiet = false
    var isJSON = false
    /// Whether standard output has not taken all that was written.
    var isCut = false
    /// The errors that `--notify` shows; nil without it.
    var notices: [String]?
  }

  private static let mode = Monitor(Mode())
  static func beQuiet() { mode.withLock { $0.isQuiet = true } }
  static func beJSON() { mode.withLock { $0.isJSON = true } }
  static var isQuiet: Bool { mode.withLock { $0.isQuiet } }
  static var isJSON: Bool { mode.withLock { $0.isJSON } }
  static var isCut: Bool { mode.withLock { $0.isCut } }
  static var outputIsTerminal: Bool { Terminal.output.isTerminal }

  /// A line on standard output; a reader that has gone (EPIPE) ends the program as it ends any filter.
  /// - Parameter text: perhaps of several lines. Whatever a host has to do with it goes in as `PrintableText.line`:
  ///   its line breaks can't be told from ours here.
  static func print(_ text: String) {
    write(PrintableText.block(text, keepsStyle: outputIsTerminal) + "\n", to: STDOUT_FILENO)
  }

  /// Text for people: a terminal gets it wrapped at words, a file or a pipe as it is.
  /// - Parameter hanging: columns by which the lines after a break are indented further.
  static func tell(_ text: String, hanging: Int = 0, _ color: Style.Color? = nil) {
    let text = PrintableText.block(text)
    let shown = outputIsTerminal ? ColumnText.wrapped(text, Terminal.output.width, hanging: hanging) : text
    print(Style.output.colored(shown, color))
  }

  /// The result of a command that changed something: a line on standard output, nothing with `--quiet` or `--json`.
  static func report(_ text: String) { if !isQuiet, !isJSON { tell(text, hanging: 2) } }

  /// What a command tells: a document with `--json`, else text for people.
  static func show(
    _ document: @autoclosure () throws -> JSONValue, orText text: () throws -> Void
  ) rethrows { if isJSON { print(try document().indentedText) } else { try text() } }

  /// Writes "podcastfs: TEXT" as one line to standard error, wrapped on a terminal. Passwords and tokens in the command's
  /// operands are left out.
  static func complain(_ text: String) {
    let text = PrintableText.line(OperandText.shown(in: text))
    mode.withLock { $0.notices?.append(text) }
    let line = "podcastfs: \(text)"
    let shown =
      Terminal.errors.isTerminal ? ColumnText.wrapped(line, Terminal.errors.width, hanging: 2) : line
    write(shown + "\n", to: STDERR_FILENO)
  }

  static func waiting(_ reason: String) -> String {
    reason.hasPrefix("waiting") ? reason : "waiting: \(reason)"
  }

  /// Errors that one notification shows.
  private static let mostNotices = 4

  /// From now on, errors are collected to be shown as a desktop notification. A file manager's menu starts commands
  /// without a terminal, so nobody would see their standard error.
  static func beginNotifying() { mode.withLock { $0.notices = [] } }

  /// Shows the collected errors in one notification, when the command ends.
  static func endNotifying() {
    let all = mode.withLock { $0.notices } ?? []
    if all.isEmpty { return }
    let rest = all.count > mostNotices ? ["… and \(all.count - mostNotices) more"] : []
    Notifications.show("podcastfs", (all.prefix(mostNotices) + rest).joined(separator: "\n"))
  }

  /// Writes text as it is, without a line's end: for files, and to move the cursor. The first error of standard output is
  /// reported; then nothing more is written to it, and the program ends with status 1.
  static func write(_ text: String, to descriptor: Int32 = STDOUT_FILENO) {
    let isOutput = descriptor == STDOUT_FILENO
    if isOutput && isCut { return }
    guard let error = writeAll(text, to: descriptor), isOutput else { return }
    if error == .EPIPE { endAsAFilterDoes() }
    mode.withLock { $0.isCut = true }
    complain("cannot write the output: \(error)")
  }

  /// Writes a text whole, also where the descriptor does not block.
  /// - Returns: why not all of it was taken; nil where it was.
  static func writeAll(_ text: String, to descriptor: Int32) -> Errno? {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        bytes = bytes.dropFirst(count)
        continue
      }
      let error = Errno.current
      if error == .EAGAIN {
        var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&room, 1, -1)
      } else if error != .EINTR {
        return error
      }
    }
    return nil
  }

  /// Ends the program where the reader of standard output, a pipe, has gone.
  static func endWithReader() {
    var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
    if poll(&output, 1, 0) > 0, output.revents & Int16(POLLERR) != 0 { endAsAFilterDoes() }
  }

  /// The reader of standard output has gone: ends this program by SIGPIPE, as other programs end.
  private static func endAsAFilterDoes() -> Never {
    signal(SIGPIPE, SIG_DFL)
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGPIPE)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
    raise(SIGPIPE)
    exit(1)
  }
}

/// The words of the call as messages show them: any word may be an address with a password, or a whole document.
enum OperandText {
  /// Characters of a word that are shown.
  private static let limit = 200

  /// Those that are not shown as they are, the longest first.
  private static let words = Monitor<[String]>([])

  static func set(_ arguments: [String]) {
    // Some messages have a word as one line already.
    let hidden = arguments.filter { !$0.isEmpty && shown($0) != $0 }.flatMap { [$0, PrintableText.line($0)] }
    words.withLock { $0 = hidden.sorted { $0.utf8.count > $1.utf8.count } }
  }

  /// A message with each of these words as it may be shown.
  static func shown(in text: String) -> String {
    words.withLock { $0 }.reduce(text) { text, word in text.replacing(word, with: shown(word)) }
  }

  private static func shown(_ word: String) -> String {
    let text = word.contains("://") ? WebAddress(word).shown : word
    return text.count > limit ? "\(text.prefix(limit))…" : text
  }
}
