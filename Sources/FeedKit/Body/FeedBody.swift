internal import PosixKit

/// A document's bytes, decompressed as they come and kept until all are here: up to 8 MiB in memory, else in a
/// temporary file that has no name. One thread fills it, then hands it to another: that makes it Sendable.
package final class FeedBody: @unchecked Sendable {
  /// What many feeds at once may take in memory, each; most have much less.
  private static let memoryLimit = 8 << 20

  private let limit: Int
  private let decoder: BodyDecoder
  private var file: FileDescriptor
  private(set) var isInMemory = true
  private var hash = ContentDigest(seed: FeedParser.version)
  package private(set) var count = 0

  /// - Parameters:
  ///   - limit: the most bytes that are taken, after decompression.
  ///   - coding: the Content-Encoding, where there is one.
  /// - Throws: `FeedError.storage`.
  package init(limit: Int = FeedLimits().document, coding: String? = nil) throws(FeedError) {
    self.limit = limit
    decoder = BodyDecoder(coding: coding)
    do { file = try .inMemory("podcastfs-feed") } catch { throw .storage(error) }
  }

  /// Takes the next bytes as they came.
  /// - Throws: `FeedError.tooLarge`; `FeedError.damagedCompression`; `FeedError.storage` where the temporary file
  ///   cannot be written.
  package func append(_ bytes: UnsafeRawBufferPointer) throws(FeedError) {
    try decoder.decode(bytes) { piece throws(FeedError) in try keep(piece) }
  }

  private func keep(_ bytes: UnsafeRawBufferPointer) throws(FeedError) {
    guard count + bytes.count <= limit else { throw .tooLarge(limit: limit) }
    do {
      if isInMemory, count + bytes.count > Self.memoryLimit { try moveToDisk() }
      try file.append(bytes)
    } catch {
      throw .storage(isInMemory ? error : PosixError(error.errno, "write", FileDescriptor.temporaryFolder))
    }
    hash.add(bytes)
    count += bytes.count
  }

  /// Tells whether another body was the same, and is read in the same way: it changes with the parser.
  package var digest: Int64 { Int64(bitPattern: hash.value) }

  /// A file's content, which may be compressed.
  package convenience init(file path: String) throws(FeedError) {
    try self.init()
    let content: [UInt8]
    do {
      content = try Directories.read(path, limit: FeedLimits().document + 1)
    } catch {
      throw .storage(error as? PosixError ?? PosixError(.EIO, "read", path))
    }
    try content.withBytes { all throws(FeedError) in try append(all) }
  }

  /// All bytes.
  func bytes() throws(FeedError) -> [UInt8] {
    do {
      return try [UInt8](unsafeUninitializedCapacity: count) { buffer, read in
        read = try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
      }
    } catch {
      throw .storage(error as? PosixError ?? PosixError(.EIO, "read"))
    }
  }

  func withFile<Result, Failure>(
    _ body: (borrowing FileDescriptor) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(file)
  }

  private func moveToDisk() throws(PosixError) {
    let temporary = try FileDescriptor.temporary()
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 8)
    defer { buffer.deallocate() }
    var offset: Int64 = 0
    while offset < count {
      let read = try file.read(into: buffer, at: offset)
      if read == 0 { break }
      do throws(PosixError) {
        try temporary.append(UnsafeRawBufferPointer(rebasing: buffer[..<read]))
      } catch {
        throw PosixError(error.errno, "write", FileDescriptor.temporaryFolder)
      }
      offset += Int64(read)
    }
    file = temporary
    isInMemory = false
  }
}
