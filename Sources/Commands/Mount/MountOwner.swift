internal import Configuration
internal import Glibc

/// Whose a mount of podcastfs is.
enum MountOwner {
  /// "another user's mount" or "the demonstration's mount", where the catalogue and the cache of this call are not
  /// those that a path of a mount shows; nil where they are, or nothing tells.
  static func stranger(at path: String, places: Places) -> String? {
    guard let path = MountPoint.absolutePath(path), let mount = MountTable.mount(holding: path), mount.isOurs,
      MountRecord.find(mount.mountPoint, places: places) == nil
    else { return nil }
    if let user = mount.user, user != geteuid() { return "another user's mount" }
    // It leaves no record.
    return (try? DemoPlaces())?.areInUse ?? false ? "the demonstration's mount" : nil
  }
}
