internal import PosixKit

/// A feed's bytes as they come, kept until all are here: the first in memory, of more the whole in a temporary
/// file that has no name. Filled by one thread, then handed to another: that makes it Sendable.
package final class FeedBody: @unchecked Sendable {
  /// What many feeds at once may take in memory, each; most have much less.
  private static let memoryLimit = 8 << 20

  private let limit: Int
  private var file: FileDescriptor
  private(set) var isInMemory = true
  private var hash = ContentDigest(seed: FeedParser.version)
  package private(set) var count = 0

  /// - Parameter limit: the most bytes that are taken.
  /// - Throws: `FeedError.storage`.
  package init(limit: Int = FeedLimits().document) throws(FeedError) {
    self.limit = limit
    do { file = try .inMemory("podcastfs-feed") } catch { throw .storage(error) }
  }

  /// Takes the next bytes.
  /// - Throws: `FeedError.tooLarge`; `FeedError.storage` where the temporary file cannot be written.
  package func append(_ bytes: UnsafeRawBufferPointer) throws(FeedError) {
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

  /// The first bytes, at most `length`.
  func prefix(_ length: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: min(length, count))
    var filled = 0
    while filled < bytes.count {
      let offset = filled
      let read = try bytes.withUnsafeMutableBytes { all in
        try file.read(into: UnsafeMutableRawBufferPointer(rebasing: all[offset...]), at: Int64(offset))
      }
      if read == 0 { break }
      filled += read
    }
    return Array(bytes[..<filled])
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
