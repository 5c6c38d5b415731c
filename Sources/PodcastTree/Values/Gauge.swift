/// A count of something that comes and goes, for tests that nothing stays behind.
package struct Gauge: Hashable, Sendable {
  package var name: String
  package var count: Int
  /// The largest count while nothing is under way.
  package var limit: Int

  package init(_ name: String, _ count: Int, limit: Int = 0) {
    self.name = name
    self.count = count
    self.limit = limit
  }
}
