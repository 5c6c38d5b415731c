import Glibc
import PosixKit
import TestSupport
import Testing

/// What was said, in a mount and on the command line.
@Suite struct TranscriptQueryTests {
  private static let text = """
    WEBVTT

    00:12:31.000 --> 00:12:35.000
    <v Ada>There was fog on the

    00:12:35.000 --> 00:12:39.000
    breakwater, they say.

    01:02:03.500 --> 01:02:05.000
    Fog again.

    """

  private func subscribed() throws -> (MountFixture, folder: String) {
    let fixture = try MountFixture(size: 200_000)
    try fixture.mount()
    try fixture.makeSearch()
    let folder = fixture.root + "/Subscriptions/Harbour Lights"
    #expect(rename(fixture.podcastPath, folder) == 0)
    #expect(try fixture.list(folder).count == 3)
    return (fixture, folder)
  }

  private func copy(_ text: String, to path: String) throws {
    let file = try FileDescriptor(opening: path, O_WRONLY | O_CREAT | O_TRUNC)
    try Array(text.utf8).withUnsafeBytes { try file.append($0) }
  }

  @Test func aSearchListsTheEpisodesInWhichSomethingIsSaid() throws {
    let (fixture, folder) = try subscribed()
    let search = fixture.root + "/Search/transcript:\"fog on the breakwater\""
    #expect(errnoOf { mkdir(search, 0o755) } == nil)
    #expect(try fixture.list(search).isEmpty)
    let own = "\(folder)/\(MountFixture.names[1].dropLast(4)).vtt"
    try copy(Self.text, to: own)
    let name = "2024-01-02 - Harbour Lights - Part 2.mp3"
    #expect(try eventually { try fixture.list(search) == [name] })
    #expect(try fixture.attribute("hits", "\(search)/\(name)") == "751")
    #expect(
      try fixture.attribute("hit_text", "\(search)/\(name)")
        == "There was fog on the breakwater, they say.")
    // Another order of the words is another phrase.
    try copy("WEBVTT\n\n00:01.000 --> 00:02.000\non the breakwater: fog\n", to: own)
    #expect(try eventually { try fixture.list(search).isEmpty })
    #expect(errnoOf { mkdir(fixture.root + "/Search/transcript:", 0o755) } == .EINVAL)
  }

  @Test func findPrintsPathTimeAndTextAsGrepDoes() throws {
    let (fixture, folder) = try subscribed()
    let episode = "\(folder)/\(MountFixture.names[0])"
    try copy(Self.text, to: episode.dropLast(4) + ".vtt")
    let lines =
      "\(episode):12:31: There was fog on the breakwater, they say.\n\(episode):1:02:03: Fog again.\n"
    #expect(try eventually { try fixture.run("find", "transcript:fog").output == lines })
    let json = try fixture.run("find", "--json", "transcript:fog").output
    #expect(json.contains("\"start\": 3723.5") && json.contains("\"speaker\": \"Ada\""))
    #expect(try fixture.run("find", "transcript:fog", "is:played").end == .exit(1))
    try fixture.unmount()
    let unmounted = try fixture.run("find", "transcript:fog").output
    #expect(unmounted.hasPrefix("2024-01-01  Harbour Lights — Part 1:12:31: There was fog"), "\(unmounted)")
    try fixture.mount()
    #expect(unlink(String(episode.dropLast(4) + ".vtt")) == 0)
    #expect(try eventually { try fixture.run("find", "transcript:fog").end == .exit(1) })
  }
}
