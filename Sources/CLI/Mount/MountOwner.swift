internal import Configuration
internal import Glibc
internal import MountService
internal import PodcastModel
internal import PosixKit

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

  /// Says whose mount is at `path`, where it is not the caller's own: "another user's mount" or "the demonstration's
  /// mount". Nil for the caller's own mount, and where none of podcastfs is.
  static func stranger(at path: String, places: Places) -> String? {
    switch MountOwner(of: path, places: places) {
    case .caller, nil: nil
    case .otherUser: "another user's mount"
    case .demonstration: "the demonstration's mount"
    }
  }
}
