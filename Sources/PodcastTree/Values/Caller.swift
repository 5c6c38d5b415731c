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
    (self.user, self.thread, self.sniffs, self.comesAgain) = (user, thread, sniffs, comesAgain)
    self.generation = generation
  }

  /// The owner of the mount, not by any program.
  package static func owner(_ owner: Owner) -> Caller { Caller(user: owner.user, thread: 0) }
}

/// The owner of the mount: the user who mounted, or the one that `uid=` names.
package struct Owner: Hashable, Sendable {
  package var user: UInt32
  package var group: UInt32
  package var mounter: UInt32
  package var mask: UInt32

  package init(user: UInt32, group: UInt32, mounter: UInt32? = nil, mask: UInt32 = 0) {
    self.user = user
    self.mounter = mounter ?? user
    self.group = group
    self.mask = mask
  }

  /// Whether `caller` may use verbs: the owner, the user who mounted, and root may.
  package func admits(_ caller: Caller) -> Bool { isMaster(caller.user) }

  private func isMaster(_ user: UInt32) -> Bool { user == self.user || user == mounter || user == 0 }

  /// Whether a user may look into directories and read: strangers only where `mask` leaves them both.
  package func lets(_ user: UInt32, ofGroup group: UInt32) -> Bool {
    if isMaster(user) { return true }
    return mask >> (group == self.group ? 3 : 0) & 0o5 == 0
  }
}
