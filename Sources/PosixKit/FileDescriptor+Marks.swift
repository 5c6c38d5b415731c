internal import CLinux
internal import Glibc

// Marks on places of a file (locks of a byte each, which others can have too): whoever lives is known by them, and
// nothing is left of who has died.
extension FileDescriptor {
  /// Marks a place, as long as this open file lives. It is to be open for reading.
  package func mark(_ place: Int64) throws(PosixError) {
    try retrying("mark a place of a file") { podcastfs_lock_byte(rawValue, off_t(place)) }
  }

  /// Places of a range that other open files have marked, `limit` at the most. This one is to be open for writing.
  package func marks(in range: Range<Int64>, limit: Int) -> Set<Int64> {
    var (found, ranges): (Set<Int64>, [Range<Int64>]) = ([], [range])
    while found.count < limit, let next = ranges.popLast() {
      if next.isEmpty { continue }
      let place = Int64(podcastfs_find_locked(rawValue, off_t(next.lowerBound), off_t(next.count)))
      guard next.contains(place) else { continue }
      found.insert(place)
      ranges += [next.lowerBound..<place, place + 1..<next.upperBound]
    }
    return found
  }
}
