internal import FeedKit
internal import Glibc
internal import PosixKit
internal import SQLiteKit

/// The list of subscriptions in a file beside the catalogue's. A new catalogue takes the subscriptions of a lost one
/// from it.
struct SubscriptionCopy: Sendable {
  let path: String

  /// Seconds after a change until the file has it.
  static let delay = 1.0

  init(besides catalogue: String) {
    path = (catalogue.lastIndex(of: "/").map { catalogue[...$0] } ?? "") + "subscriptions.opml"
  }

  /// Writes the list, where it is another than the file's. The file's time says which one it has: that of the list's last
  /// change. Where the disk refuses the file, the next change tries again.
  func update(from store: CatalogStore) {
    var status = stat()
    let isThere = stat(path, &status) == 0
    let written = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
    let state = try? store.read {
      try $0.first(
        "SELECT list_changed, EXISTS (SELECT 1 FROM subscription) FROM counter WHERE list_read = 1"
      ) { (changed: $0.int64(0), hasAny: $0.bool(1)) }
    }
    guard let state = state ?? nil, isThere ? written != state.changed : state.hasAny,
      let list = try? Catalog.exportOPML(from: store)
    else { return }
    guard (try? Directories.replace(path, with: list)) != nil else { return }
    let time = timespec(
      tv_sec: Int(state.changed / 1_000_000_000), tv_nsec: Int(state.changed % 1_000_000_000))
    utimensat(AT_FDCWD, path, [time, time], 0)
  }

  /// Follows what an earlier catalogue followed, once for each catalogue. A process that dies before the end leaves it to the
  /// next one. A file that cannot be read is moved away, so that it is not written over.
  /// - Returns: what to tell the user; nil where there is nothing to be read.
  func restore(into catalog: Catalog) -> String? {
    let isRead = try? catalog.store.read { try $0.first("SELECT list_read FROM counter") { $0.bool(0) } }
    if isRead != false { return nil }
    defer { try? catalog.store.write { try $0.run("UPDATE counter SET list_read = 1") } }
    guard access(path, F_OK) == 0 else { return nil }
    do {
      let list = try catalog.importOPML(
        try Directories.read(path, limit: OPMLDocument.byteLimit), isOwn: true)
      return list.added == 0 ? nil : "\(list.added) subscriptions came back from \(path)"
    } catch {
      rename(path, path + ".unread")
      return "the subscriptions of the earlier one did not come back: \(error): see \(path).unread"
    }
  }
}
