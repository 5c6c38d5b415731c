internal import FeedKit
internal import PosixKit

/// Whatever a parser's process writes gives a feed or an error: it is not trusted.
enum ResultFuzzing {
  static func run(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    if let result = pipe(with: bytes), let feed = FeedReader.feed(in: result, limit: 1 << 20) {
      precondition(feed.episodes.count <= bytes.count)
      for episode in feed.episodes { precondition((episode.notes?.utf8.count ?? 0) <= bytes.count * 3) }
    }
    if let result = pipe(with: bytes), let list = FeedReader.list(in: result, limit: 1 << 20) {
      precondition(list.feeds.count <= bytes.count)
    }
    return 0
  }

  /// Begins with the mark of a result: else hardly any input would be more than that. A pipe has room for 64 KiB.
  private static func pipe(with bytes: UnsafeRawBufferPointer) -> FileDescriptor? {
    let mark: [UInt8] = [0xE6, 0xC8, 0xBD, 0x83, 0x07]
    guard bytes.count <= 60_000, let pipe = try? Pipe(),
      (try? mark.withUnsafeBytes { try pipe.writer.append($0) }) != nil,
      (try? pipe.writer.append(bytes)) != nil
    else { return nil }
    return pipe.takeReader()
  }
}
