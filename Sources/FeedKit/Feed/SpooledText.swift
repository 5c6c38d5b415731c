internal import Glibc
internal import PosixKit

/// A long text of a feed: in memory, or, where a feed has very many of them, in a temporary file.
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
struct TextSpool {
  /// What all texts together may take in memory, in bytes.
  private let memoryLimit: Int
  private static let pieceSize = 65_536

  private var inMemory = 0
  private var file: TextFile?
  private var fileSize: Int64 = 0
  /// The end of the file, not yet written.
  private var pending: [UInt8] = []
  /// Why texts were lost.
  private var failure: PosixError?

  init(memoryLimit: Int) { self.memoryLimit = memoryLimit }

  /// - Returns: the text, which may be read after `finish`.
  mutating func store(_ bytes: UnsafeBufferPointer<UInt8>) -> SpooledText {
    if inMemory + bytes.count <= memoryLimit { return storeInMemory(bytes) }
    do throws(PosixError) {
      let file = try openFile()
      if pending.count + bytes.count > Self.pieceSize { try write() }
      let text = SpooledText(in: file, offset: fileSize + Int64(pending.count), length: bytes.count)
      pending.append(contentsOf: bytes)
      return text
    } catch {
      failure = error
      return storeInMemory(bytes)
    }
  }

  /// All texts have come.
  /// - Throws: where some of them are lost.
  mutating func finish() throws(PosixError) {
    try write()
    if let failure { throw failure }
  }

  private mutating func openFile() throws(PosixError) -> TextFile {
    if let file { return file }
    let made = try TextFile()
    file = made
    return made
  }

  private mutating func write() throws(PosixError) {
    guard let file, !pending.isEmpty else { return }
    try pending.withUnsafeBufferPointer { bytes throws(PosixError) in
      try file.write(UnsafeRawBufferPointer(bytes), at: fileSize)
    }
    fileSize += Int64(pending.count)
    pending.removeAll(keepingCapacity: true)
  }

  private mutating func storeInMemory(_ bytes: UnsafeBufferPointer<UInt8>) -> SpooledText {
    inMemory += bytes.count
    return SpooledText(FeedText.string(bytes))
  }
}
