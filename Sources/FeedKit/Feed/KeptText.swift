internal import Glibc
internal import PosixKit

/// A long text of a feed: in memory, or, where a feed has very many of them, in a temporary file.
struct KeptText: Hashable, Sendable {
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

  static func == (a: KeptText, b: KeptText) -> Bool { a.text == b.text }

  func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

/// Texts one after the other in a file without a name, which lives as long as one of them is kept.
final class TextFile: Sendable {
  private let descriptor: FileDescriptor

  init() throws(PosixError) { descriptor = try FileDescriptor.temporary() }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(PosixError) {
    try descriptor.write(bytes, at: offset)
  }

  func text(_ offset: Int64, _ length: Int) -> String {
    String(unsafeUninitializedCapacity: length) { buffer in
      (try? descriptor.read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)) ?? 0
    }
  }
}

/// Decides which long texts of one feed stay in memory.
struct TextKeeper {
  /// What all texts together may take in memory, in bytes.
  private static let memoryLimit = 8 << 20

  private var inMemory = 0
  private var file: TextFile?
  private var fileSize: Int64 = 0

  init() {}

  mutating func keep(_ bytes: UnsafeBufferPointer<UInt8>) -> KeptText {
    guard inMemory + bytes.count > Self.memoryLimit else { return inMemory(bytes) }
    // A disk that is full costs memory, not the feed.
    guard let file = file ?? (try? TextFile()),
      (try? file.write(UnsafeRawBufferPointer(bytes), at: fileSize)) != nil
    else { return inMemory(bytes) }
    self.file = file
    defer { fileSize += Int64(bytes.count) }
    return KeptText(in: file, offset: fileSize, length: bytes.count)
  }

  private mutating func inMemory(_ bytes: UnsafeBufferPointer<UInt8>) -> KeptText {
    inMemory += bytes.count
    return KeptText(FeedText.string(bytes))
  }
}
