import Directory
import Glibc
import PodcastModel
import PosixKit
import SQLiteKit
import TestSupport
import Testing

/// A directory of a test's own, and the dumps that it is made of.
struct Installation {
  let folder: TemporaryDirectory
  let place: DirectoryPlace
  let directory: PodcastDirectory
  /// The time by which ranks are made, in seconds since 1970: 2026-09-01.
  static let now: Int64 = 1_788_220_800
  static let day: Int64 = 86_400

  init() throws {
    folder = try TemporaryDirectory()
    place = DirectoryPlace(shared: nil, data: folder.path("data"), cache: folder.path("cache"))
    directory = PodcastDirectory(place: place)
  }

  /// Makes a dump.
  /// - Returns: its file.
  func dumpFile(
    _ rows: [[String: any Bindable]], schema: String = PodcastIndexDump.schema,
    then more: (inout PodcastIndexDump) throws -> Void = { _ in }
  ) throws -> String {
    let path = folder.path("podcastindex_feeds.db")
    unlink(path)
    var dump = try PodcastIndexDump(path: path, schema: schema)
    for row in rows { try dump.add(row) }
    try more(&dump)
    try dump.finish()
    return path
  }

  @discardableResult
  func install(
    _ file: String, progress: @escaping (DirectoryImport.Stage) -> Void = { _ in }
  ) throws -> DirectoryFacts {
    try DirectoryImport(
      place: place, program: Products.path("podcastfs"), minimumFree: 0, now: Self.now, progress: progress
    ).run(try FileDescriptor(opening: file, O_RDONLY), name: "dump.tgz", identity: "etag")
  }

  /// Makes a dump of these rows and installs it.
  @discardableResult
  func install(_ rows: [[String: any Bindable]]) throws -> DirectoryFacts { try install(try dumpFile(rows)) }

  /// The titles that a query finds.
  func titles(_ words: String, limit: Int = 50) throws -> [String] {
    try directory.search(SearchQuery(parsing: words), limit: limit).map(\.title)
  }

  /// What lies beside the directory's file.
  var leftovers: [String] {
    ((try? Directories.names(in: place.folder)) ?? []).filter {
      $0 != "directory.sqlite" && $0 != "directory.sqlite.lock"
    }
      + ((try? Directories.names(in: folder.path("cache"))) ?? [])
  }

  /// The reason for which a file is refused; nil where it is not.
  func refusal(_ file: String) -> String? {
    do {
      try install(file)
      return nil
    } catch {
      return "\(error)"
    }
  }

  static func row(_ title: String, _ more: [String: any Bindable] = [:]) -> [String: any Bindable] {
    let name = title.lowercased().filter { $0.isLetter || $0.isNumber }
    return ["url": "https://\(name).example/feed", "title": title].merging(more) { $1 }
  }
}

/// Archives of tar, also such as no honest program makes.
enum Tar {
  static func header(_ name: String, size: Int, type: Character = "0") -> [UInt8] {
    var header = [UInt8](repeating: 0, count: 512)
    func put(_ text: String, at place: Int) {
      header.replaceSubrange(place..<place + text.utf8.count, with: text.utf8)
    }
    func octal(_ number: Int, _ digits: Int) -> String {
      let text = String(number, radix: 8)
      return String(repeating: "0", count: max(digits - text.count, 0)) + text
    }
    put(name, at: 0)
    put(octal(0o644, 7), at: 100)
    put(octal(size, 11), at: 124)
    put(String(type), at: 156)
    put("ustar", at: 257)
    put(String(repeating: " ", count: 8), at: 148)
    put(octal(header.reduce(0) { $0 + Int($1) }, 6) + "\0", at: 148)
    return header
  }

  static func member(_ name: String, _ bytes: [UInt8], type: Character = "0") -> [UInt8] {
    header(name, size: bytes.count, type: type) + bytes
      + [UInt8](repeating: 0, count: (512 - bytes.count % 512) % 512)
  }

  static let end = [UInt8](repeating: 0, count: 1024)
}
