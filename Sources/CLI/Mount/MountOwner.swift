internal import Configuration
internal import Glibc
internal import MountService
internal import PosixKit

/// Whose mount a path is in.
enum MountOwner {
  /// The caller's, with the catalogue and the cache of this call; also where nothing tells.
  case caller
  case otherUser
  case demonstration

  /// nil where the path is in no mount of podcastfs.
  init?(of path: String, places: Places) {
    guard let path = MountPoint.absolutePath(path), let mount = MountTable.mount(holding: path), mount.isOurs
    else { return nil }
    if MountServer.find(mount.mountPoint, places: places) != nil {
      self = .caller
    } else if let user = mount.user, user != geteuid() {
      self = .otherUser
    } else {
      self = (try? DemoPlaces())?.areInUse ?? false ? .demonstration : .caller
    }
  }

  /// - Throws: `CommandFailure` for a path in a mount that is not the caller's own.
  static func check(_ paths: [String], places: Places) throws {
    for path in paths {
      switch MountOwner(of: path, places: places) {
      case .caller, nil: break
      case .otherUser: throw CommandFailure("\(path): another user's mount")
      case .demonstration: throw CommandFailure("\(path): the demonstration's mount")
      }
    }
  }
}
