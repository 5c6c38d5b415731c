internal import CFuse3

/// The library that file systems are served with.
package enum FuseLibrary {
  /// "3.14.0".
  package static var version: String { String(cString: fuse_pkgversion()) }
}
