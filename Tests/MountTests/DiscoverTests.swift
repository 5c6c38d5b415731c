import Glibc
import PosixKit
import TestSupport
import Testing

/// `Discover/` and searches on a mount, where the offline directory is installed.
@Suite struct DiscoverTests {
  private func install(_ fixture: MountFixture, _ numbers: ClosedRange<Int> = 1...3) throws {
    let path = fixture.environment.home.path("dump.db")
    unlink(path)
    var dump = try PodcastIndexDump(path: path)
    for number in numbers {
      try dump.add([
        "url": fixture.origin.url("/feed.xml?\(number)"), "title": "Show \(number)", "category1": "news",
        "popularityScore": 9 - number, "language": number == 1 ? "en" : "de-AT",
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
    #expect(try fixture.list(discover).count == 113)
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

  @Test func aLanguageOfACategoryIsFoundByNameAndListedThen() throws {
    let fixture = try MountFixture()
    try install(fixture)
    try fixture.mount()
    let news = fixture.root + "/Discover/News"
    #expect(try fixture.list(news) == ["Show 1", "Show 2", "Show 3"])
    #expect(errnoOf { access(news + "/fr", F_OK) } == .ENOENT)
    #expect(try fixture.list(news + "/de") == ["Show 2", "Show 3"])
    #expect(try fixture.list(news) == ["Show 1", "Show 2", "Show 3", "de"])
    #expect(try fixture.list(fixture.root + "/Discover").count == 113)
    #expect(try fixture.attribute("language", news + "/de") == "de")
    #expect(rename(news + "/de/Show 2", fixture.root + "/Subscriptions/Show 2") == 0)
    #expect(try fixture.list(news + "/de") == ["Show 3"])
    #expect(try fixture.list(fixture.root + "/Subscriptions").contains("Show 2"))
    #expect(errnoOf { rename(news + "/de", fixture.root + "/Search/de") } == .EPERM)
    #expect(errnoOf { access(news + "/de/de", F_OK) } == .ENOENT)
    #expect(rmdir(news + "/de") == 0)
    #expect(try !fixture.list(news).contains("de"))
    try fixture.unmount()
  }

  @Test func aDirectoryThatIsInstalledWhileMountedIsShownAtOnce() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    #expect(try !fixture.list(fixture.root).contains("Discover"))
    try install(fixture)
    #expect(try fixture.list(fixture.root).contains("Discover"))
    let news = fixture.root + "/Discover/News"
    for _ in 1...2 { #expect(try fixture.list(news) == ["Show 1", "Show 2", "Show 3"]) }
    // Directories are told apart by the second at which they were made.
    let second = wallClockSeconds()
    #expect(eventually { wallClockSeconds() > second })
    try install(fixture, 3...4)
    #expect(try fixture.list(news) == ["Show 3", "Show 4"])
    try fixture.unmount()
  }

  @Test func aLinkToYouTubeIsRefusedWithTheReasonInTheLog() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    let link = fixture.root + "/Subscriptions/video.url"
    let file = open(link, O_WRONLY | O_CREAT, 0o600)
    let text = "[InternetShortcut]\nURL=https://www.youtube.com/watch?v=x\n"
    #expect(write(file, text, text.utf8.count) == text.utf8.count)
    #expect(errnoOf { close(file) } == .EINVAL)
    #expect(fixture.log.contains("YouTube, which is not supported"))
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
