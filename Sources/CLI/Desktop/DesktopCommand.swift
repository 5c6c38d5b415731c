internal import Configuration
internal import Glibc
internal import MountService
internal import PosixKit

enum DesktopCommand: Command {
  static let name = "desktop"
  static let summary = "menu entries and covers for Thunar"
  static let worksOnMounts = false
  static let usage = """
    podcastfs desktop install|remove

    Adds a menu for podcasts and covers on folders to your Thunar, or removes both. What Nautilus, Nemo, Caja and Dolphin show is
    installed with podcastfs. The first three need the package python3-nautilus, nemo-python or python3-caja.
    """

  static func run(_ arguments: inout ArgumentList) throws -> Int32 {
    let operands = try arguments.operands()
    if operands.count == 4, operands[0] == thumbnail {
      return try FolderThumbnail(folder: operands[1], output: operands[2], size: operands[3]).make()
    }
    guard operands == ["install"] || operands == ["remove"] else {
      throw UsageError("desktop takes install or remove")
    }
    let isInstalling = operands == ["install"]
    let places = try Places()
    let actions = places.configurationFile.replacing("/podcastfs/config", with: "/Thunar/uca.xml")
    let thumbnailer = places.data.dropLast("podcastfs".count) + "thumbnailers/podcastfs.thumbnailer"
    let changes = [
      try setActions(isInstalling, file: actions),
      try setThumbnailer(isInstalling, file: String(thumbnailer)),
    ]
    if changes.contains(true) { StandardStreams.report("Restart Thunar to see the change: thunar -q") }
    return 0
  }

  /// - Returns: whether that changed the file.
  private static func setActions(_ isInstalling: Bool, file: String) throws -> Bool {
    let isThere = Directories.exists(file)
    let before = isThere ? String(decoding: try Directories.read(file), as: UTF8.self) : ThunarActions.empty
    let removed = ThunarActions.removed(from: before)
    guard let after = isInstalling ? ThunarActions.added(to: removed) : removed else {
      throw CommandFailure("\(file): not a list of Thunar's actions")
    }
    if after != before { try write(after, file) }
    return after != before
  }

  private static func setThumbnailer(_ isInstalling: Bool, file: String) throws -> Bool {
    let before = try? Directories.read(file)
    if !isInstalling {
      return unlink(file) == 0
    }
    let isNew = before != Array(FolderThumbnail.thumbnailer.utf8)
    if isNew { try write(FolderThumbnail.thumbnailer, file) }
    return isNew
  }

  private static func write(_ text: String, _ file: String) throws {
    if let slash = file.lastIndex(of: "/") { try Directories.create(String(file[..<slash])) }
    try Directories.replace(file, with: Array(text.utf8))
  }

  /// The word by which the desktop's thumbnailer calls this program.
  static let thumbnail = "thumbnail"
}
