internal import PosixKit

/// A document's bytes, decompressed as they come and kept in memory until all are here. One thread fills it, then hands
/// it to another: that makes it Sendable.
package final class FeedBody: @unchecked Sendable {
  private let limit: Int
  private let decoder = BodyDecoder()
  /// In memory, for the parser's process to map.
  let file: FileDescriptor
  private var checksum = CRC32C(FeedParser.version)
  package private(set) var count = 0

  /// - Parameter limit: the most bytes that are taken, after decompression.
  /// - Throws: `FeedError.storage`.
  package init(limit: Int = FeedLimits().document) throws(FeedError) {
    self.limit = limit
    do { file = try .inMemory("podcastfs-feed") } catch { throw .storage(error) }
  }

  package convenience init(file path: String) throws(FeedError) {
    try self.init()
    let content: [UInt8]
    do throws(PosixError) {
      content = try Directories.read(path, limit: FeedLimits().document + 1)
    } catch {
      throw .storage(error)
    }
    try content.withBytes { all throws(FeedError) in try append(all) }
  }

  /// Takes the next bytes as they came.
  /// - Throws: `FeedError.tooLarge`; `FeedError.damagedCompression`; `FeedError.storage` where there is no memory.
  package func append(_ bytes: UnsafeRawBufferPointer) throws(FeedError) {
    try decoder.decode(bytes) { piece throws(FeedError) in
      guard count + piece.count <= limit else { throw .tooLarge(limit: limit) }
      do throws(PosixError) { try file.append(piece) } catch { throw .storage(error) }
      checksum.update(piece)
      count += piece.count
    }
  }

  /// Tells whether another body was the same, and is read in the same way: it changes with the parser. Who sends the
  /// bytes can make two documents with the same one, and harms only himself.
  package var digest: Int64 { Int64(checksum.value) << 32 | Int64(truncatingIfNeeded: count & 0xFFFF_FFFF) }

  /// All bytes: for measuring and fuzzing.
  package func bytes() throws -> [UInt8] {
    try [UInt8](unsafeUninitializedCapacity: count) { buffer, read in
      read = try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
    }
  }
}
