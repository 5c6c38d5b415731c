import Glibc
import PosixKit
import TestSupport
import Testing

/// `Discover/` and searches on a mount, where the offline directory is installed.
@Suite struct DiscoverTests {
  private func install(_ fixture: MountFixture) throws {
    let path = fixture.environment.home.path("dump.db")
    var dump = try PodcastIndexDump(path: path)
    for number in 1...3 {
      try dump.add([
        "url": fixture.origin.url("/feed.xml?\(number)"), "title": "Show \(number)", "category1": "news",
        "popularityScore": 9 - number,
      ])
    }
    try dump.finish()
    let result = try fixture.run("directory", "import", path)
    #expect(result.end == .exit(0), "\(result.errors)")
  }

  @Test func theDirectoryIsBrowsedByCategoryAndFollowedFromThere() throws {
    let fixture = try MountFixture()
    try install(fixture)
    try fixture.mount()
    let discover = fixture.root + "/Discover"
    #expect(try fixture.list(fixture.root).contains("Discover"))
    #expect(try fixture.list(discover).count == 112)
    #expect(try fixture.list(discover + "/News") == ["Show 1", "Show 2", "Show 3"])
    #expect(try fixture.list(discover + "/True Crime") == [])
    #expect(try fixture.list(fixture.root + "/Search") == [])
    #expect(try fixture.attribute("source", discover + "/News") == "index")
    #expect(rename(discover + "/News/Show 2", fixture.root + "/Subscriptions/Show 2") == 0)
    #expect(try fixture.list(discover + "/News") == ["Show 1", "Show 3"])
    #expect(errnoOf { mkdir(discover + "/x", 0o755) } == .EROFS)
    #expect(errnoOf { rmdir(discover + "/Arts") } == .EPERM)
    try fixture.unmount()
  }

  @Test func aSearchIsAnsweredByTheDirectoryWithoutItsService() throws {
    let fixture = try MountFixture()
    try install(fixture)
    try fixture.mount()
    fixture.origin.stop()
    let search = fixture.root + "/Search/show"
    #expect(mkdir(search, 0o755) == 0)
    #expect(try fixture.list(search) == ["Show 1", "Show 2", "Show 3"])
    #expect(try fixture.attribute("source", search) == "index")
    try fixture.unmount()
  }

  @Test func withoutADirectoryThereIsNothingToDiscover() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    #expect(errnoOf { access(fixture.root + "/Discover", F_OK) } == .ENOENT)
    try fixture.unmount()
  }
}
