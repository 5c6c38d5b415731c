internal import Catalog
package import Configuration
internal import Glibc
internal import PosixKit

/// The copies of sidecars in the cache, for who is no mount.
package enum SidecarCopies {
  static func directory(in places: Places) -> String { places.cache + "/sidecars" }

  /// Deletes the copies of a podcast's cover and of all that was beside its episodes.
  package static func remove(ofPodcast podcast: Int64, in places: Places) {
    let directory = directory(in: places)
    for name in (try? Directories.names(in: directory)) ?? [] {
      if SidecarKey(fileName: name)?.podcast == podcast { unlink(directory + "/" + name) }
    }
  }
}
