/// The user who mounted.
package struct Owner: Hashable, Sendable {
  package var user: UInt32
  package var group: UInt32

  package init(user: UInt32, group: UInt32) {
    self.user = user
    self.group = group
  }

  /// Whether `caller` may use verbs: the owner and root may.
  package func admits(_ caller: Caller) -> Bool { caller.user == user || caller.user == 0 }
}
