/// Something under way. Its completion is called exactly once, also after `cancel()`.
package protocol CatalogTask: AnyObject, Sendable {
  /// Ends it with ECANCELED at once, leaving nothing behind, unless its result is already being written.
  func cancel()
}
