internal import FeedKit
internal import Glibc
internal import PodcastModel
internal import PosixKit

/// Makes one database file of a dump as it was published: an archive of tar, compressed with gzip. It also takes the
/// parts of that: an archive alone, a compressed database, a database.
struct DumpUnpacker {
  /// Called with the size of the database, where it is known, before its first byte is written.
  var checkRoom: (Int64) throws -> Void
  /// Called with the bytes that have been read and those that have been written.
  var progress: (_ packed: Int64, _ unpacked: Int64) -> Void

  /// How every database begins (https://sqlite.org/fileformat2.html#magic_header_string).
  static let signature = Array("SQLite format 3\0".utf8)

  /// Bytes of a database without an archive, after which the room is looked at again.
  private static let step: Int64 = 64 << 20

  private enum Layer { case unknown([UInt8]), database, archive(TarReader) }

  /// Reads `source` to its end.
  func unpack(_ source: borrowing FileDescriptor, to target: borrowing FileDescriptor) throws {
    let input = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 8)
    defer { input.deallocate() }
    var (packed, unpacked): (Int64, Int64) = (0, 0)
    var gzip: Inflater?
    var layer = Layer.unknown([])
    let sink = target.rawValue
    func write(_ bytes: UnsafeRawBufferPointer) throws {
      // A database without an archive around it does not say how long it will be.
      if case .database = layer,
        unpacked == 0 || unpacked / Self.step != (unpacked + Int64(bytes.count)) / Self.step
      {
        try checkRoom(Self.step)
      }
      unpacked += Int64(bytes.count)
      guard unpacked <= TarReader.longest else {
        throw DirectoryError.refused("it is longer than 16 GiB unpacked")
      }
      try writeFully(sink, bytes)
    }
    func take(_ bytes: UnsafeRawBufferPointer) throws {
      switch layer {
      case .database: try write(bytes)
      case .archive(var reader):
        try reader.take(bytes, begin: checkRoom, write)
        layer = .archive(reader)
      case .unknown(let before):
        let head = before + bytes
        guard head.count >= Self.signature.count else {
          layer = .unknown(head)
          return
        }
        layer = head.starts(with: Self.signature) ? .database : .archive(TarReader())
        try head.withUnsafeBytes { try take($0) }
      }
    }
    while true {
      let count = try retrying("read") { read(source.rawValue, input.baseAddress, input.count) }
      if count == 0 { break }
      let bytes = UnsafeRawBufferPointer(rebasing: input[..<count])
      if packed == 0 { gzip = try Self.isCompressed(bytes) ? Inflater() : nil }
      packed += Int64(count)
      if let gzip {
        guard try gzip.inflate(bytes, take) else {
          throw DirectoryError.refused("its compressed data are damaged")
        }
      } else {
        try take(bytes)
      }
      progress(packed, unpacked)
    }
    if packed == 0 { throw DirectoryError.refused("it is empty") }
    if let gzip, !gzip.hasEnded { throw DirectoryError.refused("it is cut short") }
    switch layer {
    case .database: break
    case .archive(let reader):
      if !reader.isComplete { throw DirectoryError.refused("its archive is empty or cut short") }
    case .unknown: throw DirectoryError.refused("it is cut short")
    }
  }

  /// - Throws: where the first bytes are those of neither gzip, tar nor a database.
  static func isCompressed(_ head: UnsafeRawBufferPointer) throws -> Bool {
    if head.starts(with: [0x1F, 0x8B]) { return true }
    let isArchive = head.count > 262 && head[257..<262].elementsEqual("ustar".utf8)
    if isArchive || head.starts(with: signature) { return false }
    throw DirectoryError.refused("it \(ForeignText.description(of: head))")
  }
}

/// Says what a file is that is no dump.
enum ForeignText {
  /// - Parameter head: the first bytes of the file.
  /// - Returns: the rest of a sentence, as "is a text, not a dump of Podcast Index: <!DOCTYPE html>".
  static func description(of head: UnsafeRawBufferPointer) -> String {
    let start = String(decoding: head.prefix(200), as: UTF8.self)
    let isText = head.prefix(200).allSatisfy { $0 >= 0x20 && $0 != 0x7F || (9...13).contains($0) }
    guard isText else { return "is not a dump of Podcast Index (a .tgz, or the database in it)" }
    return "is a text, not a dump of Podcast Index: \(PrintableText.line(start).prefix(80))"
  }
}
