internal import Configuration
internal import PodcastModel
internal import PosixKit

/// `.directory` in a podcast's directory: has KDE's file manager show the cover as the folder's picture. It opens by its
/// name but is not listed, and is there only where the feed has been fetched: looking for it asks nobody.
struct FolderIcon: TreeNode {
  let tree: PodcastTree
  let id: NodeID
  var hasVerbs: Bool { false }

  static let name = ".directory"

  /// The Desktop Entry Specification's form; a path that begins with "./" is beside the file.
  private static func text(cover: String) -> [UInt8] { Array("[Desktop Entry]\nIcon=./\(cover)\n".utf8) }

  /// - Parameter podcast: the row of the one that the directory shows.
  static func target(of podcast: Int64, in tree: PodcastTree) -> Answer<Target> {
    tree.podcast(podcast).then { podcast in
      guard podcast.isFetched, let cover = ListedSidecar.cover(of: podcast, tree.settings.sidecars),
        tree.isListed(cover)
      else {
        return .failure(.ENOENT)
      }
      return .value(.node(NodeID(.icon, podcast.id)))
    }
  }

  private var cover: Answer<Sidecar> {
    tree.podcast(id.row).then { podcast in
      Sidecar.cover(of: podcast).map { .value($0) } ?? .failure(.ENOENT)
    }
  }

  func attributes() -> Answer<NodeAttributes> {
    cover.map { cover in
      var attributes = tree.iconAttributes(id)
      attributes.size = Int64(Self.text(cover: cover.name).count)
      attributes.modified = FileTime(cover.modified)
      attributes.changed = attributes.modified
      attributes.timeout = 60
      return attributes
    }
  }

  func open(writes: Bool, for caller: Caller) -> Answer<any OpenFile> {
    if writes { return .failure(.EROFS) }
    return cover.map { TextFile(Self.text(cover: $0.name)) }
  }
}

extension PodcastTree {
  /// The size and the time are learnt when they are asked for.
  func iconAttributes(_ id: NodeID) -> NodeAttributes {
    var attributes = NodeAttributes(node: id, isDirectory: false, permissions: 0o644)
    attributes.size = 64
    attributes.stored = 64
    attributes.modified = started
    attributes.changed = started
    attributes.timeout = 0
    return attributes
  }
}
