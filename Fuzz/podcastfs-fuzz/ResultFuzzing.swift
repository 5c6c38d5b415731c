internal import FeedKit
internal import PosixKit

/// Whatever a parser's process writes gives a feed or an error: it is not trusted.
enum ResultFuzzing {
  static func run(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    guard let file = try? FileDescriptor.inMemory("result") else { return 0 }
    // A file begins with its mark: else hardly any input would be more than that.
    let mark: [UInt8] = [0xE6, 0xC8, 0xBD, 0x83, 0x07]
    guard (try? file.write(mark, at: 0)) != nil, (try? file.write(bytes, at: Int64(mark.count))) != nil else {
      return 0
    }
    if let feed = try? FeedReader.feed(in: file) {
      precondition(feed.episodes.count <= bytes.count)
      for episode in feed.episodes { precondition((episode.notes?.utf8.count ?? 0) <= bytes.count * 3) }
    }
    if let copy = try? FileDescriptor.inMemory("result"), (try? copy.write(mark, at: 0)) != nil,
      (try? copy.write(bytes, at: Int64(mark.count))) != nil, let list = try? FeedReader.list(in: copy)
    {
      precondition(list.feeds.count <= bytes.count)
    }
    return 0
  }
}
