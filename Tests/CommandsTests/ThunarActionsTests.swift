import CLI
import PosixKit
import TestSupport
import Testing

@Suite struct ThunarActionsTests {
  private static let users = """
    <?xml version="1.0" encoding="UTF-8"?>
    <actions>
    <action>
    \t<name>Open Terminal Here</name>
    \t<unique-id>1</unique-id>
    \t<command>exo-open</command>
    </action>
    </actions>

    """

  @Test func theUsersActionsStayAndOursComeBehind() throws {
    let text = try #require(ThunarActions.added(to: Self.users))
    #expect(text.hasPrefix(Self.users.dropLast("</actions>\n".count)))
    #expect(text.hasSuffix("</action>\n</actions>\n"))
    #expect(text.contains("<command>podcastfs get --queue --notify -- %F</command>"))
    let follow = text.split(separator: "<action>").first { $0.contains("<name>Follow</name>") }
    #expect(follow?.contains("<directories/>") == true && follow?.contains("audio-files") == false)
    #expect(ThunarActions.removed(from: text) == Self.users)
  }

  @Test func toAddThemTwiceChangesNothing() {
    let once = ThunarActions.added(to: ThunarActions.empty)
    #expect(once.map { ThunarActions.added(to: ThunarActions.removed(from: $0)) } == once)
  }

  @Test func whatIsNoListIsRefused() {
    #expect(ThunarActions.added(to: "<html></html>") == nil)
    #expect(ThunarActions.removed(from: "nothing") == "nothing")
  }

  /// Thunar reads the first list that it finds.
  @Test(arguments: [users, nil]) func `The system's actions stay before and after`(_ systems: String?) throws
  {
    let folder = try TemporaryDirectory()
    let environment = try TestEnvironment(["XDG_CONFIG_DIRS": "/nowhere:" + folder.path])
    if let systems { try folder.write("Thunar/uca.xml", systems) }
    let file = environment.home.path("config/Thunar/uca.xml")
    func desktop(_ word: String) throws {
      let result = try Products.run("podcastfs", ["desktop", word], in: environment)
      #expect(result.end == .exit(0), "\(result.errors)")
    }
    try desktop("remove")
    #expect(!Directories.exists(file))
    for _ in 1...2 {
      try desktop("install")
      let text = String(decoding: try Directories.read(file), as: UTF8.self)
      #expect(text == ThunarActions.added(to: systems ?? ThunarActions.empty))
    }
    try desktop("remove")
    #expect(!Directories.exists(file))
    // The user's own ones stay as they are.
    let own = Self.users.replacing("exo-open", with: "xterm")
    try Directories.replace(file, with: Array(own.utf8))
    try desktop("install")
    try desktop("remove")
    #expect(try Directories.read(file) == Array(own.utf8))
  }
}
