import Catalog
import FeedKit
import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing

/// Feeds whose parsing takes as long as it may.
@Suite struct SlowFeedTests {
  /// Parses feeds with the word HOG only when it is let.
  private final class Gate {
    let directory = try? TemporaryDirectory()
    private var lock: FileDescriptor?
    let program: String

    init() throws {
      let directory = try #require(directory)
      let (gate, begun) = (directory.path("gate"), directory.path("begun"))
      let file = Glibc.open(gate, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
      flock(file, LOCK_EX)
      lock = FileDescriptor(owning: file)
      program = try directory.write(
        "parser",
        """
        #!/bin/sh
        if grep -q HOG /proc/self/fd/0; then echo x >> '\(begun)'; flock -s '\(gate)' true; fi
        exec '\(Products.path("podcastfs"))' "$@"
        """.utf8)
      chmod(program, 0o700)
    }

    /// How many have begun.
    var begun: Int { Self.begun(begunFile) }
    var begunFile: String { directory?.path("begun") ?? "" }

    static func begun(_ file: String) -> Int {
      var status = stat()
      return stat(file, &status) == 0 ? Int(status.st_size) / 2 : 0
    }

    func open() { lock = nil }
  }

  private func serve(_ world: CatalogWorld, hogs: Int) throws {
    for hog in 0..<hogs {
      world.web.set("/hog\(hog)", TestFeed(title: "HOG \(hog)", items: [.init("One", guid: "1")]).page)
      _ = try world.catalog.subscribe(feedURL: "\(world.web.address)/hog\(hog)")
    }
    world.web.set("/feed", TestFeed(items: [.init("One", guid: "1")]).page)
  }

  /// A person looks into a podcast while a refresh behind holds all parsers that there are for such.
  @Test func whoOpensAPodcastDoesNotWaitForThoseThatAreRefreshedBehind() throws {
    let gate = try Gate()
    let world = try CatalogWorld(reader: .program(gate.program))
    try serve(world, hogs: 2)
    world.catalog.startScheduler()
    #expect(eventually { gate.begun == 2 })
    let podcast = try world.podcast()
    #expect(try world.refresh(podcast, .firstLook).newEpisodes.count == 1)
    gate.open()
    #expect(world.catalog.waitForRefreshes(seconds: patience))
  }

  /// Processors and the catalogue's file are for what a person waits for, until it has come.
  @Test func whatIsDueBeginsWhenNobodyWaitsForAFeed() throws {
    let gate = try Gate()
    let world = try CatalogWorld(reader: .program(gate.program))
    try serve(world, hogs: 1)
    let hog = try #require(try world.catalog.subscriptions().first).podcast.id
    let due = try world.catalog.subscribe(feedURL: "\(world.web.address)/feed").podcast.id
    world.web.set("/other", TestFeed(items: [.init("One", guid: "1")]).page)
    let other = try world.podcast("/other", title: "Other")
    let looks = Monitor(0)
    world.catalog.refresh(podcast: hog, cause: .firstLook) { _ in looks.withLockNotifying { $0 += 1 } }
    #expect(eventually { gate.begun == 1 })
    let ended = Monitor(false)
    world.catalog.refresh(podcast: due, cause: .due) { _ in ended.withLockNotifying { $0 = true } }
    try world.refresh(other, .firstLook)
    #expect(world.web.requests("/feed").isEmpty && looks.withLock { $0 } == 0)
    gate.open()
    #expect(ended.wait(until: .after(patience)) { $0 ? true : nil } ?? false)
    #expect(world.web.requests("/feed").count == 1)
  }

  /// It waits behind them already, to be parsed.
  @Test func whatWaitsBehindComesFirstWhenSomebodyWaitsForIt() throws {
    let gate = try Gate()
    let world = try CatalogWorld(reader: .program(gate.program))
    try serve(world, hogs: 2)
    let page = TestFeed(items: [.init("One", guid: "1")]).page
    let begun = gate.begunFile
    world.web.set("/feed") { _ in
      // Its answer comes when those before it hold all there is.
      _ = eventually { Gate.begun(begun) == 2 }
      return page
    }
    let podcast = try world.catalog.subscribe(feedURL: "\(world.web.address)/feed").podcast.id
    world.catalog.startScheduler()
    #expect(world.web.wait("/feed", count: 1))
    #expect(eventually { gate.begun == 2 })
    try world.refresh(podcast, .firstLook)
    #expect(try world.catalog.episodes(ofPodcast: podcast).count == 1)
    gate.open()
    #expect(world.catalog.waitForRefreshes(seconds: patience))
  }
}
