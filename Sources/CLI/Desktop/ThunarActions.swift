/// The custom actions that podcastfs adds to Thunar's (uca.xml of thunar-uca).
package enum ThunarActions {
  private struct Action {
    var key: String
    var name: String
    var icon: String
    var command: String
    /// The kinds of files that have it in their menu.
    var kinds = episodes

    static let episodes = ["audio-files", "video-files"]
  }

  private static let actions = [
    Action(
      key: "download", name: "Download", icon: "folder-download", command: "get --queue --notify -- %F"),
    Action(
      key: "pause", name: "Pause download", icon: "media-playback-pause", command: "pause --notify -- %F"),
    Action(key: "drop", name: "Drop download", icon: "edit-clear", command: "cancel --notify -- %F"),
    Action(
      key: "played", name: "Mark as played", icon: "emblem-default", command: "mark --notify played -- %F"),
    Action(key: "keep", name: "Keep", icon: "emblem-favorite", command: "mark --notify kept -- %F"),
    Action(key: "queue", name: "Add to queue", icon: "list-add", command: "queue --notify add -- %F"),
    Action(
      key: "follow", name: "Follow", icon: "bookmark-new", command: "subscribe --notify -- %F",
      kinds: ["directories"]),
    Action(
      key: "information", name: "Show information", icon: "dialog-information",
      command: "info --window --notify -- %F", kinds: Action.episodes + ["directories"]),
  ]

  /// What a file of none has.
  package static let empty = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<actions>\n</actions>\n"

  private static let (start, end, list) = ("<action>", "</action>", "</actions>")
  private static let mark = "<unique-id>podcastfs-"

  /// The text with ours behind the user's; nil where it is no list of actions.
  package static func added(to text: String) -> String? {
    guard let place = text.ranges(of: list).last else { return nil }
    return String(text[..<place.lowerBound]) + actions.map(xml).joined() + text[place.lowerBound...]
  }

  /// The text without ours.
  package static func removed(from text: String) -> String {
    var (rest, kept) = (text[...], "")
    while let first = rest.firstRange(of: start), let last = rest[first.upperBound...].firstRange(of: end) {
      let isOurs = rest[first.upperBound..<last.lowerBound].contains(mark)
      kept += rest[..<(isOurs ? first.lowerBound : last.upperBound)]
      rest = rest[last.upperBound...]
      // With the end of its line.
      if isOurs, rest.first == "\n" { rest = rest.dropFirst() }
    }
    return kept + rest
  }

  /// Whether a list has an action, anybody's.
  package static func isAny(in text: String) -> Bool { text.contains(start) }

  private static func xml(_ action: Action) -> String {
    """
    <action>
    \t<icon>\(action.icon)</icon>
    \t<name>\(action.name)</name>
    \t<submenu>Podcast</submenu>
    \t\(mark)\(action.key)</unique-id>
    \t<command>podcastfs \(action.command)</command>
    \t<description>Podcasts of podcastfs</description>
    \t<range>*</range>
    \t<patterns>*</patterns>
    \(action.kinds.map { "\t<\($0)/>" }.joined(separator: "\n"))
    </action>

    """
  }
}
