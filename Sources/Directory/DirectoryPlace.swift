package import Configuration

/// Where the directory of podcasts is, and what lies beside it while one is made.
package struct DirectoryPlace: Hashable, Sendable {
  package let file: String
  /// Where a dump is unpacked.
  package let cache: String

  /// - Parameters:
  ///   - shared: a file that all users of the machine share; nil for the user's own.
  ///   - data: the user's directory for data.
  ///   - cache: the user's directory for files that may be deleted at any time.
  package init(shared: String?, data: String, cache: String) {
    file = shared ?? "\(data)/directory/directory.sqlite"
    self.cache = cache
  }

  /// Where the user's settings have it.
  package init(_ settings: Settings, _ places: Places) {
    self.init(shared: settings.directoryFile, data: places.data, cache: places.cache)
  }

  package var folder: String { String(file[..<(file.lastIndex(of: "/") ?? file.startIndex)]) }
  var new: String { file + ".new" }
  var waiting: String { file + ".waiting" }
  var lock: String { file + ".lock" }
  /// The file into which the import unpacks a dump.
  var unpacked: String { cache + "/directory-dump.db" }
}
