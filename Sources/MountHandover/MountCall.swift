internal import Glibc
internal import PosixKit

/// How the program is called to serve a mount that is there: what the keeper starts when the process that serves has gone.
package struct MountCall: Equatable, Sendable {
  /// The program's path.
  package var program: String
  /// The words behind its name.
  package var words: [String]
  /// "NAME=VALUE"; empty for the keeper's own.
  package var environment: [String] = []

  package init(program: String, words: [String]) {
    self.program = program
    self.words = words
  }

  /// The flag that says that the connection and the memory are inherited.
  package static let flag = "--resume"

  /// What follows the call's letter in a message: strings that each end with a NUL; nil where it is too long for one.
  var message: [UInt8]? {
    let mask = String(UserMask.bits, radix: 8)
    let head = [mask, program, String(program.split(separator: "/").last ?? "podcastfs")] + words + [""]
    let bytes = Self.joined(head + environment)
    return bytes.count < Self.limit ? bytes : nil
  }

  /// Each followed by a NUL.
  private static func joined(_ strings: [String]) -> [UInt8] {
    strings.reduce(into: []) { bytes, string in
      bytes += Array(string.utf8)
      bytes.append(0)
    }
  }

  /// In bytes: what a Unix socket takes at once by default is 208 KiB.
  private static let limit = 128 << 10

}

extension MountCall {
  /// As it stands in a file: the program's path, its words, an empty string, the environment. Without words those that
  /// the process has hold on.
  package init?(text: [UInt8]) {
    guard text.last == 0 else { return nil }
    var strings = text.dropLast().split(separator: 0, omittingEmptySubsequences: false).map {
      String(decoding: $0, as: UTF8.self)
    }
    guard let first = strings.first, first.hasPrefix("/") else { return nil }
    strings.removeFirst()
    program = first
    let end = strings.firstIndex(of: "") ?? strings.endIndex
    words = Array(strings[..<end])
    environment = Array(strings[end...].dropFirst())
  }

  package var text: [UInt8] { Self.joined([program] + words + [""] + environment) }
}
