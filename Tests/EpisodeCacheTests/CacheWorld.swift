import EpisodeCache
import Glibc
import PodcastModel
import PosixKit
import TestSupport

/// A cache of a test's own.
final class CacheWorld {
  let directory: TemporaryDirectory
  let layout: CacheLayout
  let key = MediaKey(address: "http://example.org/a.mp3")

  /// - Parameter disk: where the cache lies, where that is to lose its power.
  init(on disk: TestDisk? = nil) throws {
    directory = try TemporaryDirectory()
    layout = CacheLayout(
      cache: disk.map { $0.path + "/cache" } ?? directory.path("cache"), runtime: directory.path("run"))
    try layout.create()
  }

  static func representation(_ total: Int64?, tag: String = "\"a\"") -> Representation {
    Representation(total: total, entityTag: tag, finalURL: "http://cdn.example.org/a")
  }

  func writer(_ total: Int64?) throws -> EpisodeWriter {
    try EpisodeWriter(creating: layout, key, 1, Self.representation(total))
  }

  /// A generation of which all is written, and on the disk.
  func store(_ body: TestBody, removesMap: Bool = true) throws {
    let writer = try writer(body.size)
    try write(body, 0..<body.size, writer)
    try writer.synchronize()
    if removesMap { writer.removeMap() }
  }

  func write(_ body: TestBody, _ range: Range<Int64>, _ writer: EpisodeWriter) throws {
    try body.bytes(range).withUnsafeBytes { try writer.write($0, at: range.lowerBound) }
  }

  func read(_ reader: EpisodeReader, _ range: Range<Int64>) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: range.count)
    let count = buffer.withUnsafeMutableBytes { reader.read(at: range.lowerBound, into: $0) }
    return count.map { Array(buffer.prefix($0)) }
  }

  /// Puts other contents into a file, in place.
  func overwrite(_ path: String, _ bytes: [UInt8]) throws {
    let file = try FileDescriptor(opening: path, O_WRONLY | O_TRUNC)
    try file.write(bytes, at: 0)
  }

  /// Changes one byte.
  func damage(_ path: String, at offset: Int64) throws {
    let file = try FileDescriptor(opening: path, O_RDWR)
    var byte: [UInt8] = [0]
    _ = try byte.withUnsafeMutableBytes { try file.read(into: $0, at: offset) }
    try file.write([byte[0] ^ 0x40], at: offset)
  }

  /// Sets a file's time of modification, as the passing of time or a backup program does.
  func shiftTime(_ path: String, bySeconds seconds: Int) {
    var status = stat()
    stat(path, &status)
    var times = [status.st_atim, status.st_mtim]
    times[1].tv_sec += seconds
    utimensat(AT_FDCWD, path, &times, 0)
  }

  /// Descriptors of this process on files of this cache.
  var openFiles: Int {
    let names = (try? Directories.names(in: "/proc/self/fd")) ?? []
    return names.count { name in
      var buffer = [CChar](repeating: 0, count: 4096)
      let count = max(0, readlink("/proc/self/fd/\(name)", &buffer, buffer.count))
      return String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
        .hasPrefix(directory.path)
    }
  }
}

extension EpisodeWriter {
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws { try write([bytes], at: offset) }
}

extension EpisodeWriter {
  var isComplete: Bool { representation.total.map { present.contains(0..<$0) } ?? false }
}
