internal import Glibc

/// The arguments that the program was started with.
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
