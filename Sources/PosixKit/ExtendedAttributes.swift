internal import CLinux

/// The extended attributes of files: xattr(7).
package enum ExtendedAttributes {
  /// An attribute's text; nil where the file has none of that name.
  package static func get(_ name: String, of path: String) throws(PosixError) -> String? {
    // Larger than all that a mount of podcastfs gives (XATTR_SIZE_MAX).
    var value = [UInt8](repeating: 0, count: 65_536)
    do throws(PosixError) {
      let count = try retrying("read \(name) of", path) {
        getxattr(path, name, &value, value.count)
      }
      return String(decoding: value[..<count], as: UTF8.self)
    } catch  where error.errno == .ENODATA {
      return nil
    }
  }

  /// The names of all that a file has.
  package static func names(of path: String) throws(PosixError) -> [String] {
    var names = [CChar](repeating: 0, count: 65_536)
    let count = try retrying("list the attributes of", path) {
      listxattr(path, &names, names.count)
    }
    return names[..<count].split(separator: 0).map {
      String(decoding: $0.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
  }

  package static func set(_ name: String, of path: String, to text: String) throws(PosixError) {
    let bytes = Array(text.utf8)
    try retrying("set \(name) of", path) { setxattr(path, name, bytes, bytes.count, 0) }
  }
}
