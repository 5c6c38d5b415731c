import Glibc
import PosixKit
import TestSupport
import Testing

/// The real mpv with the script of the package, on an episode of two minutes.
@Suite(
  .enabled(
    if: canMount && access("/usr/bin/mpv", X_OK) == 0, "this user cannot mount, or mpv is not installed"))
struct PlayerScriptTests {
  private let mounted: MountedCatalogue
  private let episode: String

  init() throws {
    mounted = try MountedCatalogue()
    mounted.origin.serve("/1.mp3", OriginResource(Self.silence(seconds: 120), mediaType: "audio/mpeg"))
    var feed = TestFeed(MountedCatalogue.podcast)
    var item = TestFeed.Item(
      "Part 1", url: mounted.origin.url("/1.mp3"), guid: "guid-1", published: 1_704_067_200, length: 960_044)
    item.duration = "120"
    feed.items = [item]
    mounted.origin.serve("/feed.xml", OriginResource(feed.xml, mediaType: "application/rss+xml"))
    #expect(try mounted.run("refresh", MountedCatalogue.podcast).end == .exit(0))
    episode = try mounted.episode(1)
  }

  /// A WAV file: one channel, 8,000 samples a second, a byte each.
  private static func silence(seconds: Int) -> [UInt8] {
    func bytes(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 255) } }
    let size = seconds * 8000
    var file = Array("RIFF".utf8) + bytes(36 + size, 4)
    file += Array("WAVEfmt ".utf8) + bytes(16, 4) + bytes(1, 2) + bytes(1, 2)
    file += bytes(8000, 4) + bytes(8000, 4) + bytes(1, 2) + bytes(8, 2)
    return file + Array("data".utf8) + bytes(size, 4) + [UInt8](repeating: 128, count: size)
  }

  /// Plays without sound.
  private func play(_ options: String...) throws {
    let script =
      String(#filePath.dropLast("Tests/CommandsTests/PlayerScriptTests.swift".count))
      + "mount-helper/files/podcastfs.lua"
    var variables = mounted.environment.variables
    variables["PATH"] = "\(Products.path("").dropLast()):/usr/bin:/bin"
    let mpv = try RunningProcess(
      "/usr/bin/mpv", ["--no-config", "--vo=null", "--ao=null", "--script=\(script)"] + options + [episode],
      environment: variables)
    #expect(mpv.wait() == .exit(0), "\(mpv.errors)")
  }

  private func position() throws -> Double { Double(try mounted.attribute("position", episode) ?? "0") ?? -1 }
  private func isPlayed() throws -> Bool { try mounted.attribute("played", episode) == "1" }

  @Test func `An episode is played from its position, and marked at its end`() throws {
    try play("--length=5", "--speed=4")
    #expect(try (2...6).contains(position()) && !isPlayed(), "the end of a part is not that of the episode")
    try mounted.set("position", "60", episode)
    try play("--speed=10")
    #expect(try isPlayed() && position() == 0)
  }

  @Test func `A seek back to the start removes the position`() throws {
    try mounted.set("position", "1", episode)
    try mounted.environment.home.write(
      "back.lua",
      """
      mp.add_timeout(1, function() mp.set_property_bool('pause', true) mp.commandv('seek', 0, 'absolute+exact') end)
      mp.add_timeout(2, function() mp.commandv('quit') end)
      """)
    try play("--script=\(mounted.environment.home.path("back.lua"))")
    #expect(try mounted.attribute("position", episode) == nil)
  }

  @Test func `What the user asks mpv to play counts more than the position`() throws {
    try mounted.set("position", "60", episode)
    try play("--start=10", "--length=4", "--speed=4")
    #expect(try (11...15).contains(position()) && !isPlayed())
  }
}
