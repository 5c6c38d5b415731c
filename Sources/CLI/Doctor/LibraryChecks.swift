internal import BusKit
internal import FeedKit
internal import HTTPKit
internal import PosixKit
internal import SQLiteKit

/// Whether the libraries have the needed features.
package enum LibraryChecks {
  /// - Parameter program: podcastfs, whose parser's process is tried.
  package static func all(program: String = FeedReader.thisProgram) -> [Finding] {
    [
      curl(),
      .fine("libxml2 \(XMLLibrary.version)"),
      sandbox(of: program),
      Bus.missing.map { .note("\($0): no notifications, every network counts as unmetered") }
        ?? .fine("libsystemd: notifications, metered networks and media players by D-Bus"),
      sqlite(SQLiteLibrary.version, hasFullTextSearch: SQLiteLibrary.hasFullTextSearch),
    ]
  }

  /// What a process that parses feeds can still do, as it finds out itself.
  private static func sandbox(of program: String) -> Finding {
    let outcome = try? ChildProcess.run([program, FeedWorker.probeArgument])
    return sandbox(status: outcome?.status ?? 1, words: outcome?.errors ?? "cannot be started")
  }

  package static func sandbox(status: Int32, words: String) -> Finding {
    let name = "feeds are parsed in a sandbox"
    guard status == 0 else {
      return .problem(
        "\(name): \(words)", fix: "use a Linux kernel with Landlock or seccomp (5.13 or later)")
    }
    return .fine("\(name)\(words.isEmpty ? "" : " (\(words))"): no files, no network, no programs")
  }

  private static func curl() -> Finding {
    do throws(HTTPError) {
      let library = try HTTPLibrary()
      return curl(library.version, hasTLS: library.hasTLS, hasHTTP2: library.hasHTTP2)
    } catch {
      return .problem(error.message, fix: "apt-get install libcurl4")
    }
  }

  package static func curl(_ version: String, hasTLS: Bool, hasHTTP2: Bool) -> Finding {
    guard hasTLS else {
      return .problem("libcurl \(version) cannot do https", fix: "apt-get install libcurl4")
    }
    return .fine("libcurl \(version) with https\(hasHTTP2 ? " and HTTP/2" : "")")
  }

  package static func sqlite(_ version: String, hasFullTextSearch: Bool) -> Finding {
    hasFullTextSearch
      ? .fine("SQLite \(version) with full-text search")
      : .problem("SQLite \(version) has no full-text search (FTS5)", fix: "apt-get install libsqlite3-0")
  }
}
