internal import Configuration
internal import PosixKit

/// `podcastfs desktop`.
enum DesktopCommand: Command {
  static let name = "desktop"
  static let summary = "menu entries for Thunar"
  static let worksOnMounts = false
  static let usage = """
    podcastfs desktop install|remove

    Adds a menu for episodes and podcasts to Thunar, or removes it: Thunar keeps its custom actions in a file of yours. The menus of
    Nautilus, Nemo, Caja and Dolphin are installed with podcastfs. The first three need the package python3-nautilus,
    nemo-python or python3-caja.
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    let operands = try arguments.operands()
    guard operands == ["install"] || operands == ["remove"] else {
      throw UsageError("desktop takes install or remove")
    }
    let file = try file()
    let isThere = Directories.exists(file)
    let before = isThere ? String(decoding: try Directories.read(file), as: UTF8.self) : ThunarActions.empty
    let removed = ThunarActions.removed(from: before)
    guard let after = operands == ["install"] ? ThunarActions.added(to: removed) : removed else {
      throw CommandFailure("\(file): not a list of Thunar's actions")
    }
    if after == before { return 0 }
    if let slash = file.lastIndex(of: "/") { try Directories.create(String(file[..<slash])) }
    try Directories.replace(file, with: Array(after.utf8))
    StandardStreams.report("Thunar shows it after its next start (thunar -q).")
    return 0
  }

  /// `$XDG_CONFIG_HOME/Thunar/uca.xml`.
  private static func file() throws -> String {
    let own = try Places().configurationFile
    return own.replacing("/podcastfs/config", with: "/Thunar/uca.xml")
  }
}
