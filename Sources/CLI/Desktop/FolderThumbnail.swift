internal import MountService
internal import PosixKit

/// A podcast's cover as the picture of its folder: for tumbler, which Thunar asks for thumbnails.
struct FolderThumbnail {
  let folder: String
  let output: String
  /// In pixels.
  let size: String

  /// Tumbler starts it for every folder that Thunar shows.
  static let thumbnailer = """
    [Thumbnailer Entry]
    TryExec=\(scaler)
    Exec=podcastfs desktop \(DesktopCommand.thumbnail) -- %i %o %s
    MimeType=inode/directory;

    """

  private static let scaler = "gdk-pixbuf-thumbnailer"

  /// - Returns: 0, or 1 where the folder has no cover. The cover is fetched where it is not cached.
  func make() throws -> Int32 {
    guard let path = MountPoint.absolutePath(folder), MountTable.mount(holding: path)?.isOurs == true,
      let cover = cover(in: path)
    else { return 1 }
    return try ChildProcess.run([Self.scaler, "-s", size, cover, output]).status
  }

  /// The cover that `.directory` names. Reading that file fetches no feed.
  private func cover(in folder: String) -> String? {
    let bytes = try? Directories.read(folder + "/.directory", limit: 4096)
    let lines = bytes.map { String(decoding: $0, as: UTF8.self).split(separator: "\n") } ?? []
    let icon = lines.first { $0.hasPrefix("Icon=./") }
    return icon.map { "\(folder)/\($0.dropFirst("Icon=./".count))" }
  }
}
