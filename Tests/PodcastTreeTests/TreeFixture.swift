import Configuration
import PodcastModel
import PodcastTree
import PosixKit
import TestSupport
import TransferProtocol

/// A tree on a fake catalogue and fake transfers, with one podcast of three episodes in the directory service.
final class TreeFixture {
  let catalog: FakeCatalog
  let transfers: FakeTransfers
  let fetcher = FakeFetcher()
  let programs = FakePrograms()
  let tree: PodcastTree
  let me = Caller(user: 1000, thread: 1)
  let stranger = Caller(user: 1001, thread: 2)
  /// A program of `no_trigger`.
  let indexer = Caller(user: 1000, thread: 3)
  let kernel = FakeKernel()

  static let podcast: Int64 = 7
  /// The fixture's episodes are old.
  static var settings: Settings {
    var settings = Settings()
    settings.latestDays = 0
    return settings
  }
  static let key = MediaKey(address: "http://media.example/1.mp3")

  /// - Parameters:
  ///   - cache: the cache's directory; the root is there, and nothing is written to it.
  ///   - before: the tree whose place this one takes: what that is on tells this one from now on.
  init(
    settings: Settings = TreeFixture.settings, cache: String = "/", data: String? = nil,
    after before: TreeFixture? = nil
  ) throws {
    catalog = before?.catalog ?? FakeCatalog()
    transfers = before?.transfers ?? FakeTransfers()
    if before == nil { Self.fill(catalog) }
    var places = try Places(environment: ["HOME": "/nonexistent"])
    places.cache = cache
    if let data { places.data = data }
    tree = PodcastTree(
      catalog: catalog, transfers: transfers, fetcher: fetcher, settings: settings, places: places,
      owner: Owner(user: 1000, group: 1000), programs: programs)
    tree.observe(kernel)
  }

  /// Has the feed hold so many episodes of a minute, one a day.
  func publish(count: Int) {
    catalog.state.withLock { state in
      state.feeds[Self.podcast] = (1...count).map { number in
        let address = WebAddress("http://media.example/\(number).mp3")
        var episode = Episode(
          id: Self.podcast << 20 | Int64(number), podcastID: Self.podcast,
          mediaKey: MediaKey(address: address),
          stem: "2024-01-\(number + 10) - Part \(number)", fileExtension: ".mp3", title: "Part \(number)",
          published: 1_704_067_200 + Int64(number + 9) * 86_400, enclosureURL: address)
        episode.feedLength = 1_000_000
        return episode
      }
    }
  }

  private static func fill(_ catalog: FakeCatalog) {
    catalog.state.withLock { state in
      state.nextID = 100
      var podcast = Podcast(
        id: Self.podcast, feedURL: "http://ann:secret@feeds.example/a.xml", title: "Harbour Lights",
        name: "Harbour Lights")
      podcast.author = "Ann"
      podcast.description = "About <b>harbours</b>"
      state.podcasts[Self.podcast] = podcast
      state.directory = [Self.podcast]
      state.feeds[Self.podcast] = (1...3).map { number in
        var episode = Episode(
          id: Self.podcast << 20 | Int64(number), podcastID: Self.podcast,
          mediaKey: MediaKey(address: "http://media.example/\(number).mp3"),
          stem: "2024-01-0\(number) - Part \(number)", fileExtension: ".mp3", title: "Part \(number)",
          published: 1_704_067_200 + Int64(number - 1) * 86_400,
          enclosureURL: "http://ann:secret@media.example/\(number).mp3")
        episode.guid = "guid-\(number)"
        episode.duration = 60
        episode.mediaType = "audio/mpeg"
        episode.feedLength = number == 1 ? 1_000_000 : nil
        episode.notes = "Notes of <i>part</i> \(number)"
        return episode
      }
    }
  }

  /// Makes the search "harbour" and gives its podcast's directory.
  func searched() throws -> NodeID {
    let search = try wait(tree.makeDirectory("harbour", in: .search, for: me))
    return try wait(tree.lookup("Harbour Lights", in: search.node, for: me)).node
  }

  func list(_ node: NodeID, for caller: Caller? = nil) throws -> [String] {
    let directory = try wait(tree.openDirectory(node, for: caller ?? me))
    if !directory.isRead { try wait(directory.read()) }
    return directory.names
  }

  func attribute(_ name: String, _ node: NodeID) throws -> String {
    String(decoding: try wait(tree.extendedAttribute(name, of: node, for: me)), as: UTF8.self)
  }

  /// Waits until the kernel was told to forget a directory's listing.
  func awaitListing(_ node: NodeID) -> Bool { kernel.await { $0.listings.contains(node) } }

  /// Waits until the kernel was told to forget a name.
  func awaitName(_ name: String, in directory: NodeID) -> Bool {
    kernel.await { $0.names.contains { $0.name == name && $0.directory == directory } }
  }
}

/// The kernel and those who watch: keeps what they are told.
final class FakeKernel: ViewObserver {
  let told = Monitor(Difference())

  func changed(_ difference: Difference) {
    told.withLockNotifying { told in
      told.attributes += difference.attributes
      told.listings += difference.listings
      told.names += difference.names
      told.states += difference.states
    }
  }

  func moved(_ node: NodeID, to other: NodeID) {}
  func stayed(_ node: NodeID) {}

  var gauges: [Gauge] { [] }
  var metrics: [MetricFamily] { [] }

  func await(_ condition: (Difference) -> Bool) -> Bool {
    told.wait(until: .after(patience)) { condition($0) ? true : nil } ?? false
  }

  /// What has been told since the last call.
  func take() -> Difference {
    told.withLock { told in
      defer { told = Difference() }
      return told
    }
  }
}

/// Programs by their thread's number: 3 is one of `no_trigger`, 5 a file manager that opens what it shows.
final class FakePrograms: ProgramTable {
  func program(ofThread thread: Int32) -> Program? {
    Program(process: thread, name: [3: "tumblerd", 5: "dolphin"][thread] ?? "cat", started: 1)
  }
  func arguments(of program: Program) -> [String] {
    program.process == 4 ? ["kioslave5", "/usr/lib/kf5/kio/thumbnail.so", "thumbnail"] : ["cat"]
  }
}

/// The answer's value, at most ten seconds later.
func wait<Value: Sendable>(_ answer: Answer<Value>) throws -> Value {
  switch answer {
  case .ready(let result): return try result.get()
  case .pending(let start):
    let outcome = Monitor<Result<Value, Errno>?>(nil)
    _ = start { result in outcome.withLockNotifying { $0 = result } }
    guard let result = outcome.wait(until: .after(patience), for: { $0 }) else { throw Errno.ETIMEDOUT }
    return try result.get()
  }
}

/// The errno that an answer fails with; nil where it succeeds.
func failure<Value: Sendable>(_ answer: Answer<Value>) -> Errno? {
  do {
    _ = try wait(answer)
    return nil
  } catch {
    return error as? Errno
  }
}
