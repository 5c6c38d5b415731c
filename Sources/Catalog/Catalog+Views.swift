internal import PosixKit

/// Since when a view lists what it lists.
package struct ViewTime: Hashable, Sendable {
  /// What it lists, as a number.
  package var mark: Int64
  /// In nanoseconds since 1970.
  package var changed: Int64
  /// Its time counts also where the mark is the same: it has changed meanwhile, or that time is what every mount hears.
  package var isForced: Bool

  package init(mark: Int64, changed: Int64, isForced: Bool = false) {
    self.mark = mark
    self.changed = changed
    self.isForced = isForced
  }

  /// Whether nothing is new in `other`.
  fileprivate func says(_ other: ViewTime) -> Bool {
    mark == other.mark && (!other.isForced || changed == other.changed)
  }

  /// One that a wrong clock has left far ahead does not count.
  fileprivate func isNewer(than other: ViewTime) -> Bool {
    changed > other.changed && changed / 1_000_000_000 < other.changed / 1_000_000_000 + 86_400
  }
}

extension Catalog {
  /// Tells all mounts that a file beside an episode, or a cover, has come into the cache or left it.
  package func noteSidecar(_ node: Int64) throws(CatalogError) {
    try store.change(waitsForDisk: false) { _, changes in changes.append(.sidecar(node)) }
  }
}

// The times of directories that are made of more than the catalogue's rows: who shows them says what they list, by a
// number, and every mount of the user shows the time at which that was first said.
extension Catalog {
  /// By the view's own number.
  package func viewTimes() throws(CatalogError) -> [Int64: ViewTime] {
    try store.read { try ViewRows.times(in: $0) }
  }

  /// Has all processes that show the catalogue say what their views list (`settleViews`, at `CatalogChange.views`), for who
  /// begins to show it: what they gather for a moment would be another time than his until then.
  /// - Parameter seconds: how long they have.
  package func gatherViews(seconds: Double) {
    if notices.sockets.peers(except: notices.listeningName).isEmpty { return }
    do throws(CatalogError) {
      try store.change(.verb, waitsForDisk: false) { _, changes in changes = [.views] }
      waitUntilSeen(seconds: seconds)
    } catch {
      // What they have settled is what can be known.
    }
  }

  /// Takes in what views list by now. Where another process has said the same before, its time stays, and what it lists
  /// since a later time is not replaced.
  /// - Returns: what holds for each of them.
  package func settleViews(_ views: [Int64: ViewTime]) throws(CatalogError) -> [Int64: ViewTime] {
    let known = try viewTimes()
    if views.allSatisfy({ key, view in known[key].map { $0.says(view) } ?? false }) {
      return known.filter { views[$0.key] != nil }
    }
    return try store.change(.verb, waitsForDisk: false) { database, changes in
      var settled = try ViewRows.times(in: database)
      for (key, view) in views {
        let old = settled[key]
        if let old, old.says(view) || old.isNewer(than: view) { continue }
        let time = ViewTime(mark: view.mark, changed: view.changed)
        try ViewRows.set(key, time, in: database)
        settled[key] = time
        changes = [.views]
      }
      return settled.filter { views[$0.key] != nil }
    }
  }
}
