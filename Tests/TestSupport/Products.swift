internal import Glibc
internal import PosixKit

/// The programs that were built along with the tests, or those in the directory that PODCASTFS_PROGRAMS names.
package enum Products {
  /// The file of a product: beside the tests' own program.
  package static func path(_ name: String) -> String {
    if let directory = getenv("PODCASTFS_PROGRAMS") { return String(cString: directory) + "/\(name)" }
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = max(readlink("/proc/self/exe", &buffer, buffer.count - 1), 0)
    let own = String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    return own.prefix(own.lastIndex(of: "/").map { own.distance(from: own.startIndex, to: $0) } ?? 0)
      + "/\(name)"
  }

  /// Where programs are looked for: also where an ordinary user's PATH does not lead.
  package static var searchPath: String {
    (getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin") + ":/usr/local/sbin:/usr/sbin:/sbin"
  }

  /// Whether the machine has a program of that name.
  package static func isInstalled(_ name: String) -> Bool { file(name) != nil }

  /// The file of a program of the machine; nil where it has none of that name.
  static func file(_ name: String) -> String? {
    searchPath.split(separator: ":").lazy.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
  }

  /// Starts a product.
  package static func start(
    _ name: String, _ arguments: [String], in environment: TestEnvironment
  ) throws -> RunningProcess {
    try RunningProcess(path(name), arguments, environment: environment.variables)
  }

  /// Runs a product to its end.
  /// - Returns: its end, nil where it had to be killed; and what it wrote.
  package static func run(
    _ name: String, _ arguments: [String], in environment: TestEnvironment, seconds: Double = patience
  ) throws -> (end: RunningProcess.End?, output: String, errors: String) {
    let process = try start(name, arguments, in: environment)
    let end = process.wait(seconds: seconds)
    return (end, process.output, process.errors)
  }
}
