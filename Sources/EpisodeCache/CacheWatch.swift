package import PodcastModel
internal import PosixKit

/// Hears of data files that are deleted, by whomever: the cache may be at any time.
package final class CacheWatch {
  private let files: FileWatch
  private let layout: CacheLayout
  private var watch: Int32?

  /// - Throws: `PosixError` where the system gives no watch.
  package init(_ layout: CacheLayout) throws {
    files = try FileWatch()
    self.layout = layout
    renew()
  }

  package var descriptor: Int32 { files.descriptor }

  /// Watches the folder, where it is there again after it was deleted.
  /// - Returns: whether it was not watched before: what was deleted of it until now, nobody has heard of.
  @discardableResult
  package func renew() -> Bool {
    if watch != nil { return false }
    watch = files.add(layout.episodes, .vanishing)
    return watch != nil
  }

  /// The episodes that data files are gone of; nil where that may be any.
  package func vanished() -> Set<MediaKey>? {
    var keys: Set<MediaKey> = []
    var isUnknown = false
    for event in files.events() {
      if event.isOverflow { isUnknown = true }
      if event.isGone {
        isUnknown = true
        watch = nil
      } else if let name = event.name, let (key, _) = CacheLayout.parse(name) {
        keys.insert(key)
      }
    }
    renew()
    return isUnknown ? nil : keys
  }
}
