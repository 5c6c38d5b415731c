package protocol Command: SendableMetatype {
  static var name: String { get }
  /// One line for `podcastfs help`.
  static var summary: String { get }
  /// The lines of `podcastfs help NAME`: the form of the call, then what it does and its options.
  static var usage: String { get }
  /// Whether it works on a mount: on the demonstration's, where nothing else is mounted.
  static var worksOnMounts: Bool { get }
  /// - Returns: the exit status, where it is not an error's.
  /// - Throws: `UsageError` (exit status 64) or any other error (exit status 1, one line on standard error).
  static func run(_ arguments: inout ArgumentList) throws -> Int32
}

extension Command {
  /// As `podcastfs NAME WORDS…`.
  static func run(_ words: [String]) throws -> Int32 {
    var arguments = ArgumentList(words)
    return try run(&arguments)
  }

  package static var worksOnMounts: Bool { true }
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

  /// Words for an error: "OPERAND: ERROR", or ERROR alone where it already begins with the operand.
  init(of operand: String, _ error: any Error) {
    let words = "\(error)"
    self.init(words.hasPrefix(operand + ": ") ? words : "\(operand): \(words)")
  }

  /// The description without "PATH: " before it.
  func reason(of path: String) -> String {
    description.hasPrefix(path + ": ") ? String(description.dropFirst(path.count + 2)) : description
  }
}
