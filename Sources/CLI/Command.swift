/// A command of the program, `GetCommand` for `podcastfs get`. Parsing, help and the manual page follow from its usage.
package protocol Command: SendableMetatype {
  /// The forms of the call, a line each, then what it does and its options: see `CommandForm`.
  static var usage: String { get }
  /// - Throws: `UsageError` (exit status 64), `CommandEnd`, or any other error (exit status 1, one line on standard error).
  static func run(_ arguments: inout ArgumentList) throws
}

extension Command {
  /// As `podcastfs NAME WORDS…`.
  static func run(_ words: [String]) throws {
    var arguments = ArgumentList(words)
    try run(&arguments)
  }

  package static var name: String {
    String(usage.split(separator: " ", maxSplits: 2)[1].prefix { $0 != "\n" })
  }
}

/// A call that makes no sense: exit status 64 (EX_USAGE of sysexits.h).
package struct UsageError: Error, CustomStringConvertible {
  package var description: String
  /// The command whose help explains the right call.
  var topic: String?
  package init(_ description: String) { self.description = description }
}

/// Something that could not be done: exit status 1, with this one line.
package struct CommandFailure: Error, CustomStringConvertible {
  package var description: String
  package init(_ description: String) { self.description = description }

  /// "OPERAND: ERROR", or ERROR alone where it already begins with the operand.
  init(of operand: String, _ error: any Error) {
    let words = "\(error)"
    self.init(words.hasPrefix(operand + ": ") ? words : "\(operand): \(words)")
  }

  /// The description without "PATH: " before it.
  func reason(of path: String) -> String {
    description.hasPrefix(path + ": ") ? String(description.dropFirst(path.count + 2)) : description
  }
}

/// Ends a command that has said all there is to say.
struct CommandEnd: Error { var status: Int32 = 1 }

extension Array {
  /// Calls `body` for each element. Reports each failure, and goes on with the next element.
  /// - Throws: `CommandEnd` where one has failed.
  func forEachReporting(_ body: (Element) throws -> Void) throws {
    var hasFailed = false
    for element in self {
      do { try body(element) } catch {
        if !(error is CommandEnd) { StandardStreams.complain("\(error)") }
        hasFailed = true
      }
    }
    if hasFailed { throw CommandEnd() }
  }
}
