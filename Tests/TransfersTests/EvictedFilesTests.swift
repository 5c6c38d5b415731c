import EpisodeCache
import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing
import TransferEngine
import Transfers

/// Which files of the cache go first, and how many.
@Suite struct EvictedFilesTests {
  /// Of six files of ten bytes each, read one after the other.
  @Test(arguments: [
    (count: Int64(10), more: Int64(0), gone: 1), (10, 9, 1), (11, 9, 2), (10, 10, 2), (5, 5, 1), (5, 25, 3),
    (100, 0, 6),
  ])
  func `The least recently read go, and no more than fit`(count: Int64, more: Int64, gone: Int) throws {
    let directory = try TemporaryDirectory()
    let layout = CacheLayout(cache: directory.path("cache"), runtime: directory.path("run"))
    try layout.create()
    let names = (0..<6).map {
      GenerationName(key: MediaKey(address: "http://a.example/\($0)"), generation: 1, size: 10)
    }
    for (place, name) in names.enumerated() {
      let path = layout.whole(name.key, name.generation)
      try Directories.replace(path, with: Array(repeating: 0, count: 10))
      let times = [timespec(tv_sec: 1000 + place, tv_nsec: 0), timespec(tv_sec: 1000, tv_nsec: 0)]
      #expect(utimensat(AT_FDCWD, path, times, 0) == 0)
    }
    let evicted = layout.evict(names.shuffled(), count: count, more: more)
    #expect(evicted.map(\.key) == names.prefix(gone).map(\.key))
    #expect(names.map { layout.isWhole($0.key, 1) } == names.indices.map { $0 >= gone })
  }
}
