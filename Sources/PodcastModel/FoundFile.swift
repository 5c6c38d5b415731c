/// A data file of the cache.
package struct FoundFile: Hashable, Sendable {
  package var key: MediaKey
  package var generation: UInt32
  /// The size of a complete file; nil where bytes are missing.
  package var size: Int64?
  package var written: Int64

  package init(key: MediaKey, generation: UInt32, size: Int64?, written: Int64) {
    (self.key, self.generation, self.size, self.written) = (key, generation, size, written)
  }
}
