/// A call as mount(8) makes it: SOURCE MOUNTPOINT [-sfnv] [-N NAMESPACE] [-t TYPE] [-o OPTIONS].
struct HelperCall {
  /// What mount(8) calls the device; nil for nothing.
  var source: String?
  var arguments: ArgumentList

  /// What `mount.podcastfs` puts before a call, so that no SOURCE passes for a command.
  static let flag = "--helper"
  /// SOURCEs that mean nothing: what a line of fstab(5) has where there is no device.
  static let nothing: Set<String> = ["none", "podcastfs"]

  /// nil where it is none.
  /// - Parameters:
  ///   - program: the name that the program was called by; `mount.podcastfs` may be a link to it.
  ///   - words: the others.
  init?(program: String, _ words: [String]) {
    let name = program.split(separator: "/").last ?? ""
    var words = words[...]
    if name.hasPrefix("mount.") || words.first == Self.flag {
      if words.first == Self.flag { words = words.dropFirst() }
    } else if !Self.isByShape(words) {
      return nil
    }
    guard let source = words.popFirst() else { return nil }
    self.source = Self.nothing.contains(source) ? nil : source
    arguments = ArgumentList(Array(words))
  }

  /// mount.fuse3 calls the program itself: `podcastfs SOURCE /MOUNTPOINT -o OPTIONS`, which is nobody's call of a
  /// command, but for the two that mount.
  private static func isByShape(_ words: ArraySlice<String>) -> Bool {
    guard words.count >= 2, let source = words.first, !source.hasPrefix("-") else { return false }
    if !CommandLineTool.commands.contains(where: { $0.name == source }) {
      return words.dropFirst().contains { $0.hasPrefix("/") }
    }
    let isOfMount = [MountCommand.name, DemoCommand.name].contains(source)
    return !isOfMount && words.count == 4 && words[words.startIndex + 1].hasPrefix("/")
      && words[words.startIndex + 2] == "-o"
  }
}
