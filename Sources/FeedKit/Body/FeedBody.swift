internal import Glibc
internal import PosixKit

/// A document's bytes in memory, for the parser's process to map. They are decompressed by what they say themselves:
/// servers name a compression that they have not used, and none for a file that is compressed.
package final class FeedBody: Sendable {
  let file: FileDescriptor
  package let count: Int
  /// Tells whether another body was the same, and is read in the same way: it changes with the parser. Who sends the
  /// bytes can make two documents with the same one, and harms only himself.
  package let digest: Int64

  /// - Parameter limit: the most bytes that are taken, after decompression.
  /// - Throws: `FeedError.tooLarge`; `FeedError.damagedCompression` where nothing can be read; `FeedError.storage` where there
  ///   is no memory.
  package init(_ bytes: [UInt8], limit: Int = FeedLimits().document) throws(FeedError) {
    let document = try Self.decompressed(bytes, limit)
    do throws(PosixError) {
      file = try .inMemory("podcastfs-feed")
      let file = self.file.rawValue
      try document.withBytes { all throws(PosixError) in try writeFully(file, all) }
    } catch {
      throw .storage(error)
    }
    count = document.count
    digest = Int64(CRC32C.checksum(document[...]) ^ FeedParser.version) << 32 | Int64(count)
  }

  private static func decompressed(_ bytes: [UInt8], _ limit: Int) throws(FeedError) -> [UInt8] {
    var document = bytes
    // This byte begins gzip, and no document.
    if bytes.first == 0x1F, let inflater = Inflater() {
      document = []
      let isSound = try bytes.withBytes { all throws(FeedError) in
        try inflater.inflate(all) { piece throws(FeedError) in
          if document.count > limit { throw .tooLarge(limit: limit) }
          document.append(contentsOf: piece)
        }
      }
      if !isSound && document.isEmpty { throw .damagedCompression }
    }
    if document.count > limit { throw .tooLarge(limit: limit) }
    return document
  }

  package convenience init(file path: String) throws(FeedError) {
    let content: [UInt8]
    do throws(PosixError) {
      content = try Directories.read(path, limit: FeedLimits().document + 1)
    } catch {
      throw .storage(error)
    }
    try self.init(content)
  }

  /// All bytes: for measuring and fuzzing.
  package func bytes() throws -> [UInt8] {
    try [UInt8](unsafeUninitializedCapacity: count) { buffer, read in
      read = try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
    }
  }
}
