import Configuration
import EpisodeCache
import Glibc
import PodcastModel
import PosixKit
import SQLiteKit
import TestSupport
import Testing
import TransferProtocol
import TransferStore

@testable import TransferClient

/// The store is an older one than the cache: put back from a backup, or without the end of its log. What was ordered last
/// holds, wherever that is written.
@Suite struct OlderStoreTests {
  let user: TransferFixture
  let body = TestBody(seed: 43, size: 1_000_000)

  init() throws { user = try TransferFixture() }

  private var store: String { user.places.state + "/" + TransferStore.fileName }

  private func endDaemon(_ signal: Int32 = SIGTERM) throws {
    let daemon = try #require(user.daemon)
    kill(daemon, signal)
    #expect(eventually { !self.user.isRunning(daemon) })
  }

  private func cached(_ path: String, _ client: TransferClient) -> TransferRequest {
    let request = user.serve(body, at: path)
    #expect(client.confirmed { $0.start(request, completion: $1) })
    #expect(client.reaches(.cached, request))
    #expect(user.filesAreClosed(request, 1))
    return request
  }

  /// Some of it has come, slowly.
  private func begun(_ path: String, _ client: TransferClient) throws -> TransferRequest {
    let request = user.serve(body, at: path, .with { $0.rate = 200_000 })
    let episode = try client.opened(request)
    _ = try episode.read(at: 0, 100_000)
    episode.close()
    return request
  }

  private func journalSays(_ request: TransferRequest, _ isTrue: (TransferRecord) -> Bool) -> Bool {
    eventually {
      let journal = RangeJournal(reading: user.layout.journal(request.key, 1))
      return TransferRecord(key: request.key, note: journal.note).map(isTrue) ?? false
    }
  }

  private func copyOfStore() throws -> [UInt8] {
    // The last to close it moves all that the log has into the file.
    #expect(
      eventually {
        (try? TransferStore(state: user.places.state).records()) != nil && access(store + "-wal", F_OK) != 0
      })
    return try Directories.read(store)
  }

  private func putBack(_ copy: [UInt8]) throws {
    for suffix in ["-wal", "-shm"] { unlink(store + suffix) }
    try Directories.replace(store, with: copy)
  }

  /// The statuses as who only looks sees them.
  private func look() throws -> TransferClient {
    let client = try user.client(isMount: false)
    client.waitUntilCurrent(until: .after(patience))
    return client
  }

  @Test(arguments: [SIGTERM, SIGKILL]) func whatWasOrderedSinceHolds(_ signal: Int32) throws {
    let client = try user.client()
    let (kept, freed) = (cached("/kept.mp3", client), cached("/freed.mp3", client))
    #expect(client.confirmed { $0.setKept(freed, true, completion: $1) })
    #expect(journalSays(freed) { $0.isKept })
    let paused = try begun("/paused.mp3", client)
    client.stop()
    try endDaemon()
    let copy = try copyOfStore()

    let again = try user.client()
    #expect(again.confirmed { $0.pause(paused, completion: $1) })
    #expect(again.confirmed { $0.setKept(kept, true, completion: $1) })
    #expect(again.confirmed { $0.setKept(freed, false, completion: $1) })
    let new = cached("/new.mp3", again)
    #expect(again.confirmed { $0.setKept(new, true, completion: $1) })
    #expect(journalSays(new) { $0.isKept } && journalSays(kept) { $0.isKept })
    #expect(journalSays(freed) { !$0.isKept } && journalSays(paused) { $0.state == .paused })
    again.stop()
    try endDaemon(signal)
    try putBack(copy)

    let looking = try look()
    #expect(looking.status(of: kept.key)?.isKept == true)
    #expect(looking.status(of: freed.key)?.isKept == false)
    #expect(looking.status(of: new.key)?.state == .cached)
    #expect(looking.status(of: new.key)?.isKept == true)
    #expect(looking.status(of: paused.key)?.state == .paused)
    #expect(body.firstDifference(try looking.opened(new).readAll()) == nil)
    #expect(user.origin.requests("/new.mp3").count == 1)
    looking.stop()
  }

  /// It was ordered, and has come, under a number that nobody looks for who knows of none.
  @Test func whatHasAnotherNumberDoesNotComeAgain() throws {
    let client = try user.client()
    _ = cached("/a.mp3", client)
    client.stop()
    try endDaemon()
    let copy = try copyOfStore()
    let again = try user.client()
    let new = cached("/new.mp3", again)
    again.stop()
    try endDaemon(SIGKILL)
    for ending in ["", ".ranges"] {
      rename(user.layout.data(new.key, 1) + ending, user.layout.data(new.key, 3) + ending)
    }
    try putBack(copy)
    let reading = try user.client()
    #expect(body.firstDifference(try reading.opened(new).readAll()) == nil)
    #expect(user.origin.requests("/new.mp3").count == 1)
    reading.stop()
  }

  @Test func aStoreThatHasLostItsLogLosesNoOrder() throws {
    let client = try user.client()
    let kept = cached("/kept.mp3", client)
    client.stop()
    try endDaemon()
    _ = try copyOfStore()
    let again = try user.client()
    #expect(again.confirmed { $0.setKept(kept, true, completion: $1) })
    #expect(journalSays(kept) { $0.isKept })
    again.stop()
    try endDaemon(SIGKILL)
    for suffix in ["-wal", "-shm"] { unlink(store + suffix) }
    #expect(try TransferStore(reading: user.places.state).records().allSatisfy { !$0.isKept })
    #expect(try look().status(of: kept.key)?.isKept == true)
  }

  /// Killed before it has told the journal: the next one does, for the day when the store is lost.
  @Test func theJournalHearsOfItAfterAKill() throws {
    let client = try user.client()
    let kept = cached("/kept.mp3", client)
    let path = user.layout.journal(kept.key, 1)
    let before = try Directories.read(path)
    #expect(client.confirmed { $0.setKept(kept, true, completion: $1) })
    #expect(journalSays(kept) { $0.isKept })
    #expect(user.filesAreClosed(kept, 1))
    client.stop()
    try endDaemon(SIGKILL)
    try Directories.replace(path, with: before)
    let looking = try look()
    #expect(looking.status(of: kept.key)?.isKept == true)
    #expect(journalSays(kept) { $0.isKept })
    looking.stop()
  }

  /// A file whose name comes back does not undo what was done since.
  @Test func whatTheStoreKnowsBetterHolds() throws {
    let client = try user.client()
    let dropped = cached("/dropped.mp3", client)
    let files = try ["", ".ranges"].map { ($0, try Directories.read(user.layout.data(dropped.key, 1) + $0)) }
    #expect(client.confirmed { $0.drop(dropped.key, completion: $1) })
    client.stop()
    try endDaemon(SIGKILL)
    for (ending, bytes) in files {
      try Directories.replace(user.layout.data(dropped.key, 1) + ending, with: bytes)
    }
    let looking = try look()
    #expect(looking.status(of: dropped.key)?.state == .remote)
    looking.stop()
  }

  /// Where all is as the daemon left it nobody starts another one to look.
  @Test func aDaemonThatHasEndedInOrderIsNotNeeded() throws {
    let client = try user.client()
    let request = cached("/a.mp3", client)
    client.stop()
    try endDaemon()
    #expect(user.layout.seal != nil)
    let looking = try look()
    #expect(looking.status(of: request.key)?.state == .cached)
    #expect(user.daemon == nil)
    looking.stop()
    // The next one, and who is killed, leaves none.
    let again = try user.client()
    #expect(again.confirmed { $0.setKept(request, true, completion: $1) })
    #expect(user.layout.seal == nil)
    again.stop()
    try endDaemon(SIGKILL)
    #expect(user.layout.seal == nil)
    #expect(try TransferStore(reading: user.places.state).seal() == nil)
  }

  /// Who finds the store without the cache's number while a daemon runs has heard all of it before long, and does not
  /// wait for it again.
  @Test func aDaemonThatHasToldAllIsNotWaitedFor() throws {
    let client = try user.client()
    let request = cached("/a.mp3", client)
    client.waitUntilCurrent(until: .after(patience))
    client.session.askForAll()
    let isCurrent = Monitor(false)
    client.whenCurrent { isCurrent.withLock { $0 = true } }
    #expect(eventually { isCurrent.withLock { $0 } })
    #expect(client.status(of: request.key)?.state == .cached)
    client.stop()
  }

  /// A copy of the cache, made while a daemon ran, is unpacked over it when none does.
  @Test func whatACopyOfTheCacheLacksIsNotCached() throws {
    let client = try user.client()
    let request = user.serve(body, at: "/a.mp3", .with { $0.rate = 500_000 })
    let episode = try client.opened(request)
    _ = try episode.read(at: 0, 200_000)
    #expect(client.confirmed { $0.pause(request, completion: $1) })
    episode.close()
    #expect(journalSays(request) { $0.state == .paused })
    let copy = user.environment.home.path("copy")
    _ = try ChildProcess.run(["cp", "-a", user.layout.episodes, copy])
    #expect(client.confirmed { $0.start(request, completion: $1) })
    #expect(client.reaches(.cached, request))
    #expect(user.filesAreClosed(request, 1))
    client.stop()
    try endDaemon()
    _ = try ChildProcess.run(["cp", "-a", copy + "/.", user.layout.episodes])

    let looking = try look()
    #expect(looking.status(of: request.key)?.state != .cached)
    looking.stop()
  }
}
