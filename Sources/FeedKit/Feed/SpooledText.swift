internal import Glibc
internal import PosixKit

/// A long text of a feed: in memory, or, where a feed has very many of them, in the file that the parser's process wrote.
struct SpooledText: Hashable, Sendable {
  private enum Place {
    case memory(String)
    case file(TextFile, offset: Int64, length: Int)
  }

  private let place: Place

  init(_ text: String) { place = .memory(text) }

  init(in file: TextFile, offset: Int64, length: Int) {
    place = .file(file, offset: offset, length: length)
  }

  /// Empty where the temporary file can no longer be read.
  var text: String {
    switch place {
    case .memory(let text): text
    case .file(let file, let offset, let length): file.text(offset, length)
    }
  }

  static func == (a: SpooledText, b: SpooledText) -> Bool { a.text == b.text }

  func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

/// Texts one after the other in a file without a name, which lives as long as one of them is kept.
final class TextFile: Sendable {
  let descriptor: FileDescriptor

  /// - Parameter inMemory: whether it shall take no room on a disk.
  convenience init(inMemory: Bool = false) throws(PosixError) {
    self.init(inMemory ? try .inMemory("podcastfs-texts") : try .temporary())
  }

  init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

  /// In bytes; 0 where that cannot be told.
  var size: Int64 { (try? descriptor.status()).map { Int64($0.st_size) } ?? 0 }

  /// Fewer than `length` where the file ends before.
  func bytes(_ offset: Int64, _ length: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
      count = (try? descriptor.read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)) ?? 0
    }
  }

  func text(_ offset: Int64, _ length: Int) -> String {
    String(unsafeUninitializedCapacity: length) { buffer in
      (try? descriptor.read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)) ?? 0
    }
  }
}
