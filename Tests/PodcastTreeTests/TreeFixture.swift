import Catalog
import Configuration
import FeedKit
import HTTPKit
import PodcastModel
import PosixKit
import SQLiteKit
import TestSupport
import TransferProtocol

@testable import PodcastTree

/// What the trees of one user share: a catalogue in memory, the feeds and the directory service on loopback, and transfers
/// that a test steers.
final class TreeWorld: Sendable {
  let origin: OriginServer
  let directory: DirectoryService
  let catalog: Catalog
  let transfers = FakeTransfers()
  fileprivate let feed: Monitor<TestFeed>
  private let home: TemporaryDirectory
  private let http = HTTPClient(name: "test-http")

  init() throws {
    home = try TemporaryDirectory(inMemory: true)
    origin = try OriginServer()
    directory = DirectoryService(on: origin)
    var settings = Settings()
    settings.searchURL = directory.url
    let environment = ["HOME": home.path, "XDG_RUNTIME_DIR": home.path("run")]
    catalog = try Catalog(
      places: Places(environment: environment), settings: settings, http: http,
      feedReader: .program(Products.path("podcastfs")))
    feed = Monitor(.threeParts)
    serve(.threeParts)
    list("Harbour Lights", at: "/a.xml")
  }

  deinit {
    catalog.close()
    http.stop()
    origin.stop()
  }

  fileprivate func serve(_ feed: TestFeed) {
    origin.serve("/a.xml", OriginResource(feed.xml, mediaType: "application/rss+xml"))
  }

  /// Puts a podcast into the directory service, which every search finds.
  func list(_ title: String, at path: String) {
    let url = origin.url(path).replacing("http://", with: "http://ann:secret@")
    listings.withLock { listings in
      listings.append(
        DirectoryService.Listing(
          title, author: "harbour again", feedURL: url, id: Int64(listings.count + 1)))
      directory.list(listings)
    }
  }

  /// Adds a picture to all podcasts of the directory service.
  fileprivate func nameCover(_ url: String) {
    listings.withLock { listings in
      for place in listings.indices { listings[place].imageURL = url }
      directory.list(listings)
    }
  }

  private let listings = Monitor<[DirectoryService.Listing]>([])

  /// Changes the catalogue's file past all rules, and has all trees read all of it again.
  func poke(_ statements: String...) throws {
    let database = try Database(path: home.path(".local/share/podcastfs/catalog.sqlite"))
    for statement in statements { try database.run(statement) }
    try database.run("INSERT INTO change_log (changes) VALUES ('everything')")
    try catalog.noteUpload()
  }
}

extension TestFeed {
  /// The fixture's, of January 2024.
  static var threeParts: TestFeed {
    var feed = TestFeed("Harbour Lights", author: "Ann", items: (1...3).map { .part($0, day: $0) })
    feed.more = "<description>About &lt;b&gt;harbours&lt;/b&gt;</description>"
    feed.items[0].length = 1_000_000
    feed.items[0].more = "<description>Notes of &lt;i&gt;part&lt;/i&gt; 1</description>"
    return feed
  }
}

extension TestFeed.Item {
  /// - Parameter day: 1 for the first of January 2024.
  static func part(_ number: Int, day: Int) -> TestFeed.Item {
    var item = TestFeed.Item(
      "Part \(number)", url: "http://media.example/\(number).mp3", guid: "guid-\(number)",
      published: 1_704_067_200 + Int64(day - 1) * 86_400)
    item.duration = "60"
    return item
  }
}

/// A tree on a catalogue in memory and fake transfers, with one podcast of three episodes in the directory service.
final class TreeFixture {
  let world: TreeWorld
  let fetcher = FakeFetcher()
  let programs = FakePrograms()
  let tree: PodcastTree
  let me = Caller(user: 1000, thread: 1)
  let stranger = Caller(user: 1001, thread: 2)
  /// A program of `no_trigger`.
  let indexer = Caller(user: 1000, thread: 3)
  let kernel = FakeKernel()

  var catalog: Catalog { world.catalog }
  var transfers: FakeTransfers { world.transfers }
  /// How often the podcast's feed was fetched.
  var fetches: Int { world.origin.requests("/a.xml").count }
  /// The podcast's feed; who sets it changes what its host has.
  var feed: TestFeed {
    get { world.feed.withLock { $0 } }
    set {
      world.feed.withLock { $0 = newValue }
      world.serve(newValue)
    }
  }

  /// The first that the catalogue gets to know, and its episodes.
  static let podcast: Int64 = 1
  static func episode(_ number: Int64) -> Int64 { podcast << 20 | number }
  /// The fixture's episodes are old.
  static var settings: Settings {
    var settings = Settings()
    settings.latestDays = 0
    return settings
  }
  static let key = MediaKey(address: "http://media.example/1.mp3")

  /// - Parameters:
  ///   - cache: the cache's directory; the root is there, and nothing is written to it.
  ///   - before: another tree of the same user.
  init(
    settings: Settings = TreeFixture.settings, cache: String = "/", data: String? = nil,
    after before: TreeFixture? = nil
  ) throws {
    world = try before?.world ?? TreeWorld()
    var places = try Places(environment: ["HOME": "/nonexistent"])
    places.cache = cache
    if let data { places.data = data }
    tree = PodcastTree(
      catalog: world.catalog, transfers: world.transfers, fetcher: fetcher, settings: settings,
      places: places, owner: Owner(user: 1000, group: 1000), programs: programs)
    tree.observe(kernel)
  }

  /// Fills the feed with so many episodes, one a day, which only now become known.
  func publish(count: Int) { feed.items = (1...count).map { .part($0, day: $0) } }

  /// Follows the result of a search, as another process would.
  @discardableResult
  func follow(_ result: NodeID) throws -> NodeID {
    let listed = try catalog.subscribe(result: result.row, name: "Lights")
    try settle()
    return NodeID(.subscription, listed.id)
  }

  /// Fetches the podcast's feed, and takes in what it says.
  func refresh() throws {
    let result = Monitor<Result<RefreshOutcome, CatalogError>?>(nil)
    catalog.refresh(podcast: Self.podcast, cause: .forced) { outcome in
      result.withLockNotifying { $0 = outcome }
    }
    _ = try result.wait(until: .after(patience)) { $0 }?.get()
    try settle()
  }

  /// Ends when the tree has taken in all that is committed.
  func settle() throws { try wait(tree.commit {}) }

  /// Makes the search "harbour" and gives its podcast's directory.
  /// - Parameter cover: the address of the picture that the search names.
  func searched(cover: String? = nil) throws -> NodeID {
    if let cover { world.nameCover(cover) }
    let known = try? wait(tree.lookup("harbour", in: .search, for: me))
    let search = try known ?? wait(tree.makeDirectory("harbour", in: .search, for: me))
    return try wait(tree.lookup("Harbour Lights", in: search.node, for: me)).node
  }

  func list(_ node: NodeID, for caller: Caller? = nil) throws -> [String] {
    let directory = try wait(tree.openDirectory(node, for: caller ?? me))
    if !directory.isRead { try wait(directory.read()) }
    return directory.names
  }

  func attribute(_ name: String, _ node: NodeID) throws -> String {
    String(decoding: try wait(tree.extendedAttribute(name, of: node)), as: UTF8.self)
  }

  /// Waits until the kernel was told to forget a directory's listing.
  func awaitListing(_ node: NodeID) -> Bool { kernel.await { $0.listings.contains(node) } }

  /// Waits until the kernel was told to forget a name.
  func awaitName(_ name: String, in directory: NodeID) -> Bool {
    kernel.await { $0.names.contains { $0.name == name && $0.directory == directory } }
  }
}

extension OpenDirectory {
  var names: [String] { items(from: 0, count: 1 << 20).map(\.name) }
}

/// The kernel and those who watch: keeps what they are told.
final class FakeKernel: ViewObserver {
  let told = Monitor(Difference())

  func changed(_ difference: Difference) {
    told.withLockNotifying { told in
      told.attributes += difference.attributes
      told.listings += difference.listings
      told.names += difference.names
      told.news += difference.news
    }
  }

  func moved(_ node: NodeID, to other: NodeID) {}

  var gauges: [Gauge] { [] }

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
    Program(process: thread, name: [3: "tumblerd", 5: "dolphin"][thread] ?? "cat")
  }
  func arguments(of program: Program) -> [String] {
    program.process == 4 ? ["kioslave5", "/usr/lib/kf5/kio/thumbnail.so", "thumbnail"] : ["cat"]
  }
}

/// The answer's value, at most ten seconds later.
func wait<Value: Sendable>(_ answer: Answer<Value>) throws -> Value {
  let outcome = Monitor<Result<Value, Errno>?>(nil)
  answer.run(Cancellation()) { result in outcome.withLockNotifying { $0 = result } }
  guard let result = outcome.wait(until: .after(patience), for: { $0 }) else { throw Errno.ETIMEDOUT }
  return try result.get()
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
