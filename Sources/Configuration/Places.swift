internal import Glibc
internal import PosixKit

/// Where everything is (Documentation/Semantics.md; XDG Base Directory Specification).
package struct Places: Hashable, Sendable {
  /// `$XDG_CONFIG_HOME/podcastfs/config`.
  package var configurationFile: String
  /// `$XDG_DATA_HOME/podcastfs`: catalogue and subscriptions.
  package var data: String
  /// `$XDG_STATE_HOME/podcastfs`: transfer state, locks, logs.
  package var state: String
  /// `$XDG_CACHE_HOME/podcastfs`: episodes.
  package var cache: String
  /// `$XDG_RUNTIME_DIR/podcastfs`: socket, live maps.
  package var runtime: String
  package var logFile: String { Self.logFile(in: state) }
  package static func logFile(in state: String) -> String { state + "/podcastfs.log" }

  /// The home directory that some of these are in; nil where variables name them all.
  private var home: String?

  /// No usable home directory: names the variable to set.
  package struct Unusable: Error, CustomStringConvertible {
    package var description: String
  }

  /// The places of the calling user by `environment`. Creates nothing.
  /// - Throws: `Unusable`.
  package init(environment: [String: String] = Self.processEnvironment) throws {
    var usedHome: String?
    func base(_ variable: String, _ fallback: String) throws -> String {
      // "All paths set in these environment variables must be absolute" else ignored (XDG).
      if let value = environment[variable], value.hasPrefix("/") { return value.trimmingSlashes }
      guard let home = environment["HOME"], home.hasPrefix("/") else {
        throw Unusable(description: "no home directory: set HOME (or \(variable)) to an absolute path")
      }
      usedHome = home
      return home.trimmingSlashes + fallback
    }
    configurationFile = try base("XDG_CONFIG_HOME", "/.config") + "/podcastfs/config"
    data = try base("XDG_DATA_HOME", "/.local/share") + "/podcastfs"
    state = try base("XDG_STATE_HOME", "/.local/state") + "/podcastfs"
    cache = try base("XDG_CACHE_HOME", "/.cache") + "/podcastfs"
    home = usedHome
    if let directory = Self.runtimeDirectory(environment) {
      runtime = directory.trimmingSlashes + "/podcastfs"
    } else {
      let temporary = environment["TMPDIR"].flatMap { $0.hasPrefix("/") ? $0.trimmingSlashes : nil } ?? "/tmp"
      runtime = "\(temporary)/podcastfs-\(geteuid())"
    }
  }

  /// `$XDG_RUNTIME_DIR`; nil where there is none, or where it is another user's, whom su(1) was called by: "The directory
  /// MUST be owned by the user" (XDG).
  package static func runtimeDirectory(_ environment: [String: String]) -> String? {
    guard let value = environment["XDG_RUNTIME_DIR"], value.hasPrefix("/") else { return nil }
    var status = stat()
    return stat(value, &status) == 0 && status.st_uid != geteuid() ? nil : value
  }

  /// Creates the directories, each 0700 and owned by this user.
  /// - Throws: `PosixError` naming the directory, `Unusable` naming the variable.
  package func create() throws {
    if let home {
      var status = stat()
      guard stat(home, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
        throw Unusable(description: "the home directory \(home) is not there: set HOME to one that is")
      }
    }
    for (path, variable) in [
      (data, "XDG_DATA_HOME"), (state, "XDG_STATE_HOME"), (cache, "XDG_CACHE_HOME"),
      (runtime, "XDG_RUNTIME_DIR"),
    ] {
      do {
        try Directories.createPrivate(path)
      } catch {
        throw Unusable(description: "\(error); set \(variable) or HOME to a directory you can write")
      }
    }
  }

  package static var processEnvironment: [String: String] {
    var result: [String: String] = [:]
    var entry = environ
    while let text = entry.pointee {
      let line = String(cString: text)
      if let equals = line.firstIndex(of: "=") {
        result[String(line[..<equals])] = String(line[line.index(after: equals)...])
      }
      entry += 1
    }
    return result
  }
}

extension String {
  fileprivate var trimmingSlashes: String {
    var text = Substring(self)
    while text.count > 1 && text.hasSuffix("/") { text = text.dropLast() }
    return String(text)
  }
}
