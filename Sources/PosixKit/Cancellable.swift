/// Something under way that whoever asked for it may give up.
package protocol Cancellable: AnyObject, Sendable {
  /// Gives it up, unless it has ended or can't be undone any more. Whatever it was to call at its end it calls exactly
  /// once either way.
  func cancel()
}
