internal import Glibc

/// A user as the system knows him (passwd(5)).
package struct Account: Hashable, Sendable {
  package var name: String
  package var user: UInt32
  package var group: UInt32
  package var home: String

  /// By his name, or his number in decimal digits; nil where there is none.
  package init?(_ text: String) {
    guard let entry = getpwnam(text) ?? UInt32(text).flatMap({ getpwuid($0) }) else { return nil }
    self.init(entry)
  }

  /// Whoever this process acts for; nil where the system does not know him.
  package static var current: Account? { getpwuid(geteuid()).map { Account($0) } }

  private init(_ entry: UnsafeMutablePointer<passwd>) {
    name = String(cString: entry.pointee.pw_name)
    user = entry.pointee.pw_uid
    group = entry.pointee.pw_gid
    home = String(cString: entry.pointee.pw_dir)
  }

  package static func group(_ text: String) -> UInt32? {
    getgrnam(text)?.pointee.gr_gid ?? UInt32(text)
  }

  /// Makes this process act for the account, for good, in the account's own environment. Only while it has one
  /// thread.
  /// - Throws: `PosixError` where only root may do that.
  package func become() throws(PosixError) {
    if geteuid() == user { return }
    try retrying("take the group of", name) { setgid(group) }
    try retrying("take the groups of", name) { initgroups(name, group) }
    try retrying("become", name) { setuid(user) }
    setenv("USER", name, 1)
    setenv("LOGNAME", name, 1)
    for variable in ["CONFIG", "DATA", "STATE", "CACHE"] { unsetenv("XDG_\(variable)_HOME") }
    unsetenv("XDG_RUNTIME_DIR")
    takeHome()
  }

  /// Sets HOME, and XDG_RUNTIME_DIR where it is not set and the user has a session.
  package func takeHome() {
    setenv("HOME", home, 1)
    let runtime = "/run/user/\(user)"
    var status = stat()
    if stat(runtime, &status) == 0, status.st_uid == user { setenv("XDG_RUNTIME_DIR", runtime, 0) }
  }

  /// For programs that mount(8) starts: it leaves the caller's HOME, another user's, or none (systemd), or sets
  /// root's. Where it is not the user's own, the one in the system's list holds.
  package static func correctHome() {
    var status = stat()
    if let home = getenv("HOME"), stat(home, &status) == 0, status.st_uid == geteuid() { return }
    current?.takeHome()
  }
}
