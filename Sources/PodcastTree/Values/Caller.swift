/// The process that made a request.
package struct Caller: Hashable, Sendable {
  package var user: UInt32
  /// The thread's number; 0 where unknown.
  package var thread: Int32
  /// Whether it opens with O_NOATIME: to learn a file's type, or for a backup.
  package var sniffs: Bool
  /// Whether it has had the file open since another process served the mount.
  package var comesAgain: Bool
  /// Which generation it had open then; 0 where none.
  package var generation: UInt32

  package init(
    user: UInt32, thread: Int32, sniffs: Bool = false, comesAgain: Bool = false, generation: UInt32 = 0
  ) {
    self.user = user
    self.thread = thread
    self.sniffs = sniffs
    self.comesAgain = comesAgain
    self.generation = generation
  }
}
