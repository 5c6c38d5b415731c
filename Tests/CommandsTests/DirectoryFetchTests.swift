import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing

/// `podcastfs directory fetch` by the built programs: the transfer daemon downloads the dump.
@Suite struct DirectoryFetchTests {
  private let origin: OriginServer
  private let home: TestEnvironment
  private let url: String

  init() throws {
    origin = try OriginServer()
    url = origin.url("/dump.db")
    home = try TestEnvironment(["PODCASTFS_SEARCH_URL": origin.url("/search")])
    try home.home.write("config/podcastfs/config", "directory_url = \(url)\ncache_size = 16K\nmin_free = 0\n")
  }

  /// A dump of so many podcasts, 2 to 4 KiB each.
  private func dump(_ title: String, rows: Int = 200) throws -> [UInt8] {
    let path = home.home.path("dump.db")
    unlink(path)
    var dump = try PodcastIndexDump(path: path)
    for row in 0..<rows {
      try dump.add([
        "url": "https://\(row).example/feed", "title": "\(title) \(row)",
        "description": String(repeating: "x\(row) ", count: 500),
      ])
    }
    try dump.finish()
    return try Directories.read(path, limit: 1 << 24)
  }

  private func serve(
    _ bytes: [UInt8], etag: String = "\"1\"", _ change: (inout OriginResource) -> Void = { _ in }
  ) {
    var resource = OriginResource(bytes, mediaType: "application/octet-stream")
    resource.etag = etag
    change(&resource)
    origin.serve("/dump.db", resource)
  }

  private func run(_ arguments: String...) throws -> (
    end: RunningProcess.End?, output: String, errors: String
  ) {
    try Products.run("podcastfs", arguments, in: home)
  }

  private func status() throws -> JSONValue {
    try JSONValue(parsing: Array(run("directory", "status", "--json").output.utf8))
  }

  /// Requests for bytes behind the first ones, which tell what the server has.
  private var ranges: [String?] { origin.requests.map(\.range).filter { $0 != "bytes=0-511" } }

  @Test func aDownloadThatIsCutGoesOnWhereItStoppedAndNothingIsLeftOfIt() throws {
    let bytes = try dump("Show")
    // The first request asks what there is.
    serve(bytes) { $0.plan = [.init(), .with { $0.cutAfter = 400_000 }] }
    let fetch = try run("directory", "fetch")
    #expect(fetch.end == .exit(0), "\(fetch.errors)")
    #expect(ranges.count == 2 && ranges[0] == nil && ranges[1]?.hasSuffix("-") == true, "\(ranges)")
    // Podcast Index refuses requests without a name.
    let names = origin.requests.map { $0.header("user-agent") ?? "" }
    #expect(names.allSatisfy { $0.hasPrefix("podcastfs/") }, "\(names)")
    let status = try status()
    #expect(status["podcasts"]?.wholeNumber == 200 && status["download"]?["bytes"] == nil)
    #expect(try Directories.names(in: home.home.path("cache/podcastfs/episodes")) == [])
    let again = try run("directory", "fetch")
    #expect(again.end == .exit(0) && again.output.contains("the newest directory is installed"), "\(again)")
    #expect(ranges.count == 2)
  }

  @Test func theDownloadGoesOnWithoutTheCommandAndWithANewDaemon() throws {
    let bytes = try dump("Show")
    serve(bytes) { $0.plan = [.init(), .with { $0.stallAfter = 400_000 }] }
    let fetch = try Products.start("podcastfs", ["directory", "fetch"], in: home)
    #expect(eventually { (try? self.status()["download"]?["bytes"]?.wholeNumber ?? 0) ?? 0 >= 393_216 })
    kill(fetch.id, SIGINT)
    #expect(fetch.wait() == .signal(SIGINT))
    let shown = try run("status").output
    #expect(shown.contains("offline directory") && shown.contains("0 episodes downloaded (0 B"), "\(shown)")
    #expect(home.signalDaemon(SIGKILL))
    #expect(eventually { self.home.daemon == nil })
    #expect(
      eventually {
        // This command has downloads go on.
        _ = try? run("status")
        return (try? self.status()["download"]?["bytes"]?.wholeNumber) == Int64(bytes.count)
      })
    #expect(try run("directory", "status").output.contains("podcastfs directory fetch installs it"))
    let before = ranges
    #expect(try run("directory", "fetch").end == .exit(0))
    #expect(try status()["podcasts"]?.wholeNumber == 200)
    #expect(ranges == before && before.last??.hasSuffix("-") == true, "\(ranges)")
  }

  @Test func aDumpThatIsReplacedMeanwhileIsNotMixedWithTheNewOne() throws {
    let (old, new) = (try dump("Old"), try dump("New", rows: 150))
    serve(old) { $0.plan = [.init(), .with { $0.cutAfter = 400_000 }, .with { $0.status = 503 }] }
    #expect(try run("directory", "fetch", "--queue").end == .exit(0))
    #expect(eventually { self.origin.requests.count >= 3 })
    serve(new, etag: "\"2\"")
    let fetch = try run("directory", "fetch")
    #expect(fetch.end == .exit(0), "\(fetch.errors)")
    #expect(try status()["podcasts"]?.wholeNumber == 150)
    #expect(try run("directory", "fetch").output.contains("the newest directory is installed"))
  }

  @Test func aDownloadThatIsCompleteButOldIsNotInstalled() throws {
    serve(try dump("Old"))
    #expect(try run("directory", "fetch", "--queue").end == .exit(0))
    #expect(eventually { (try? self.run("directory", "status").output.contains("installs it")) ?? false })
    serve(try dump("New", rows: 150), etag: "\"2\"")
    #expect(try run("directory", "fetch").end == .exit(0))
    #expect(try status()["podcasts"]?.wholeNumber == 150)
  }

  @Test func aDiskWithoutRoomIsFoundBeforeAnythingIsDownloaded() throws {
    serve(try dump("Show"))
    try home.home.write("config/podcastfs/config", "directory_url = \(url)\nmin_free = 1000T\n")
    let fetch = try run("directory", "fetch")
    #expect(fetch.end == .exit(1) && fetch.errors.contains("it needs"), "\(fetch.errors)")
    #expect(ranges == [])
  }

  @Test func twoFetchesAtOnceBothSucceed() throws {
    serve(try dump("Show", rows: 2000))
    let fetches = try (0..<2).map { _ in try Products.start("podcastfs", ["directory", "fetch"], in: home) }
    for fetch in fetches { #expect(fetch.wait() == .exit(0), "\(fetch.errors)") }
    #expect(try status()["podcasts"]?.wholeNumber == 2000 && ranges.count == 1)
  }

  @Test func aDumpIsKnownByItsFirstBytesWhateverItsType() throws {
    let bytes = try dump("Show")
    serve(bytes) { $0.mediaType = "text/html" }
    let fetch = try run("directory", "fetch")
    #expect(fetch.end == .exit(0), "\(fetch.errors)")
  }

  /// An import of a pipe that never ends.
  @Test(arguments: [SIGINT, SIGTERM, SIGKILL]) func anImportThatASignalEndsLeavesNothing(_ signal: Int32)
    throws
  {
    let file = home.home.path("cache/podcastfs/directory-dump.db")
    let pipe = home.home.path("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    let work = try Products.start("podcastfs", ["directory", "import", pipe], in: home)
    let writer = try FileDescriptor(opening: pipe, O_WRONLY)
    try Array(dump("Show").prefix(4096)).withUnsafeBytes { try writeFully(writer.rawValue, $0) }
    #expect(eventually { Directories.exists(file) })
    kill(work.id, signal)
    #expect(work.wait() == .signal(signal))
    if signal == SIGKILL { #expect(try run("directory", "remove").end == .exit(0)) }
    #expect(!Directories.exists(file))
  }

  @Test func aWholeDumpIsInstalledAndGoesAlsoWhereTheDaemonsStoreWasLost() throws {
    let episodes = home.home.path("cache/podcastfs/episodes")
    for verb in ["fetch", "remove"] {
      serve(try dump("Show"), etag: "\"\(verb)\"")
      #expect(try run("directory", "fetch", "--queue").end == .exit(0))
      #expect(eventually { (try? self.run("directory", "status").output.contains("installs it")) ?? false })
      let before = ranges.count
      #expect(home.signalDaemon(SIGTERM))
      #expect(eventually { self.home.daemon == nil })
      for end in ["", "-wal", "-shm"] { unlink(home.home.path("state/podcastfs/transfers.sqlite\(end)")) }
      let end = try run("directory", verb)
      #expect(end.end == .exit(0), "\(end.errors)")
      #expect(eventually { (try? Directories.names(in: episodes)) == [] })
      #expect(ranges.count == before)
    }
  }

  @Test func aDownloadThatIsUnderWayIsEnded() throws {
    serve(try dump("Show")) { $0.plan = [.init(), .with { $0.stallAfter = 400_000 }] }
    #expect(try run("directory", "fetch", "--queue").end == .exit(0))
    #expect(eventually { (try? self.status()["download"]?["bytes"]?.wholeNumber ?? 0) ?? 0 > 0 })
    // It is no episode.
    let all = try JSONValue(parsing: Array(run("status", "--json").output.utf8))
    #expect(all["active"]?.wholeNumber == 0 && all["queued"]?.wholeNumber == 0)
    #expect(try run("directory", "remove").end == .exit(0))
    #expect(try status()["download"]?["bytes"] == nil)
    #expect(
      eventually { (try? Directories.names(in: home.home.path("cache/podcastfs/episodes"))) == [] })
  }
}
