/// Who asks.
package struct Caller: Hashable, Sendable {
  package var user: UInt32
  /// The thread's number; 0 where unknown.
  package var thread: Int32

  package init(user: UInt32, thread: Int32) {
    self.user = user
    self.thread = thread
  }
}
