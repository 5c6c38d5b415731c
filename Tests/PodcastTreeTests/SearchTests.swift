import Catalog
import PodcastModel
import PodcastTree
import PosixKit
import TestSupport
import Testing

@Suite struct SearchTests {
  @Test func theRootListsItsViewsButNotTheControlDirectory() throws {
    let fixture = try TreeFixture()
    #expect(
      try fixture.list(.root) == ["Downloaded", "Downloading", "Latest", "Queue", "Search", "Subscriptions"])
    let control = try wait(fixture.tree.lookup(".podcastfs", in: .root, for: fixture.me))
    #expect(control.isDirectory && control.permissions == 0o700)
    #expect(try fixture.list(control.node) == ["events", "log", "metrics", "status.json"])
  }

  @Test func aDirectoryMadeInSearchListsThePodcastsFoundWithoutFetchingAFeed() throws {
    let fixture = try TreeFixture()
    let search = try wait(fixture.tree.makeDirectory("harbour", in: .search, for: fixture.me))
    #expect(try fixture.list(.search) == ["harbour"])
    #expect(try fixture.list(search.node) == ["Harbour Lights"])
    #expect(fixture.fetches == 0)
  }

  @Test func aFailingSearchGivesItsErrnoAndLeavesNothing() throws {
    let fixture = try TreeFixture()
    fixture.world.directory.behave(.with { $0.status = 429 })
    #expect(failure(fixture.tree.makeDirectory("harbour", in: .search, for: fixture.me)) == .EAGAIN)
    #expect(try fixture.list(.search) == [])
  }

  @Test func aSearchThatIsGivenUpEndsWithEINTR() throws {
    let fixture = try TreeFixture()
    fixture.world.directory.behave(.with { $0.refusesToAnswer = true })
    guard case .pending(let start) = fixture.tree.makeDirectory("x", in: .search, for: fixture.me) else {
      Issue.record("a search must not be answered at once")
      return
    }
    let outcome = Monitor<Errno?>(nil)
    let cancellation = Cancellation()
    start(cancellation) { result in
      if case .failure(let errno) = result { outcome.withLockNotifying { $0 = errno } }
    }
    cancellation.cancel()
    #expect(outcome.wait(until: .after(patience)) { $0 } == .EINTR)
  }

  @Test func renamingASearchSearchesForTheNewNameUnderTheSameNode() throws {
    let fixture = try TreeFixture()
    let search = try wait(fixture.tree.makeDirectory("New Folder", in: .search, for: fixture.me))
    try wait(
      fixture.tree.rename("New Folder", in: .search, to: "lights", in: .search, flags: 0, for: fixture.me))
    #expect(try fixture.list(.search) == ["lights"])
    #expect(try wait(fixture.tree.lookup("lights", in: .search, for: fixture.me)).node == search.node)
    #expect(try fixture.list(search.node) == ["Harbour Lights"])
  }

  @Test func removingASearchForgetsItAndRemovingAResultHidesIt() throws {
    let fixture = try TreeFixture()
    let first = try wait(fixture.tree.makeDirectory("a", in: .search, for: fixture.me))
    try wait(fixture.tree.removeDirectory("Harbour Lights", in: first.node, for: fixture.me))
    #expect(try fixture.list(first.node) == [])
    try wait(fixture.tree.removeDirectory("a", in: .search, for: fixture.me))
    #expect(try fixture.list(.search) == [])
    #expect(failure(fixture.tree.attributes(of: first.node)) == .ENOENT)
    let second = try wait(fixture.tree.makeDirectory("a", in: .search, for: fixture.me))
    #expect(second.node != first.node)
  }

  @Test func searchesOfAnotherMountAreShownAndTheKernelIsTold() throws {
    let fixture = try TreeFixture()
    #expect(try fixture.list(.search) == [])
    fixture.catalog.search("harbour elsewhere") { _ in }
    #expect(fixture.awaitListing(.search))
    #expect(try fixture.list(.search) == ["harbour elsewhere"])
  }

  @Test func onlyTheOwnerAndRootMayUseVerbs() throws {
    let fixture = try TreeFixture()
    let tree = fixture.tree
    #expect(failure(tree.makeDirectory("x", in: .search, for: fixture.stranger)) == .EACCES)
    #expect(failure(tree.access(.search, mask: 2, for: fixture.stranger)) == .EACCES)
    #expect(failure(tree.access(.search, mask: 2, for: fixture.me)) == nil)
    #expect(failure(tree.openDirectory(.control, for: fixture.stranger)) == .EACCES)
    _ = try wait(tree.makeDirectory("x", in: .search, for: Caller(user: 0, thread: 1)))
  }

  @Test func whatHasNoMeaningChangesNothing() throws {
    let fixture = try TreeFixture()
    let (tree, me) = (fixture.tree, fixture.me)
    _ = try fixture.searched()
    #expect(failure(tree.makeDirectory("x", in: .root, for: me)) == .EROFS)
    #expect(failure(tree.makeDirectory("x", in: .latest, for: me)) == .EROFS)
    #expect(failure(tree.removeDirectory("Search", in: .root, for: me)) == .EPERM)
    #expect(failure(tree.rename("Search", in: .root, to: "Find", in: .root, flags: 0, for: me)) == .EPERM)
    #expect(failure(tree.rename("harbour", in: .search, to: "x", in: .root, flags: 0, for: me)) == .EPERM)
    #expect(failure(tree.change(.search, size: nil, onlyTimes: false, for: me)) == .EPERM)
    #expect(failure(tree.create(".a", in: .subscriptions, for: me)) == .EPERM)
    #expect(failure(tree.create("a.opml", in: .root, for: me)) == .EROFS)
    #expect(failure(tree.setExtendedAttribute("user.x", to: [], of: .search, for: me)) == .EPERM)
    #expect(failure(tree.setExtendedAttribute("trusted.x", to: [], of: .search, for: me)) == .EOPNOTSUPP)
  }
}
