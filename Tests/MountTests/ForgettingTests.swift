import Glibc
import PosixKit
import TestSupport
import Testing

/// `podcastfs forget` of a podcast that nobody follows any more, of which an episode is kept.
@Suite struct ForgettingTests {
  private static let password = "harbour-word"

  /// A feed with a password that was followed, and of which two episodes are here, one of them kept.
  private func fixture() throws -> (fixture: MountFixture, folder: String) {
    let fixture = try MountFixture()
    fixture.publish(count: 3)
    for path in ["/feed.xml", "/1.mp3", "/2.mp3"] {
      fixture.origin.change(path) { $0.behaviour.basicCredentials = "ann:\(Self.password)" }
    }
    try fixture.mount()
    let address = fixture.origin.url("/feed.xml")
      .replacing("http://", with: "http://ann:\(Self.password)@")
    let result = try fixture.run("subscribe", address)
    #expect(result.end == .exit(0), "\(result.errors)")
    let subscription = fixture.root + "/Subscriptions/" + MountFixture.podcast
    for number in [1, 2] {
      #expect(try fixture.isWhole("\(subscription)/\(MountFixture.names[number - 1])", number))
    }
    try fixture.set("keep", "1", "\(subscription)/\(MountFixture.names[0])")
    #expect(try fixture.run("unsubscribe", MountFixture.podcast).end == .exit(0))
    let folder = fixture.root + "/Downloaded/" + MountFixture.podcast
    #expect(try fixture.list(folder).count == 2)
    return (fixture, folder)
  }

  /// Files of the user's that have the password in them.
  private func traces(_ fixture: MountFixture) throws -> String {
    let grep = try RunningProcess(
      "grep", ["-rlaF", "--exclude-dir=mnt", Self.password, fixture.environment.home.path],
      environment: ["PATH": "/usr/bin:/bin"])
    _ = grep.wait()
    return grep.output
  }

  @Test(arguments: [true, false]) func itIsForgottenByWhatDownloadedShows(isPath: Bool) throws {
    let (fixture, folder) = try fixture()
    #expect(try traces(fixture).contains("transfers.sqlite"))
    let result = try fixture.run("forget", isPath ? folder : MountFixture.podcast, seconds: 60)
    #expect(result.end == .exit(0), "\(result.errors)")
    #expect(try traces(fixture) == "")
    #expect(try fixture.list(fixture.root + "/Downloaded") == [])
    let daemon = try #require(fixture.daemon)
    kill(daemon, SIGKILL)
    #expect(eventually { fixture.daemon != daemon })
    #expect(try traces(fixture) == "")
  }

  @Test func anEpisodeIsNoPodcast() throws {
    let (fixture, folder) = try fixture()
    let result = try fixture.run(
      "forget", folder + "/" + MountFixture.names[0], folder + "/none", "none", "no/where")
    #expect(result.end == .exit(1))
    #expect(result.errors.contains("not a podcast's folder"), "\(result.errors)")
    #expect(result.errors.contains("there is no podcast called \"none\"\n"), "\(result.errors)")
    #expect(result.errors.contains("called \"no/where\", and nothing at that path"), "\(result.errors)")
    #expect(try fixture.list(folder).count == 2)
  }
}
