import CLI
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
}
