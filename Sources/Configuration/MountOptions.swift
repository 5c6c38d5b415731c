internal import PosixKit

/// The options that are not ours: FUSE's, the kernel's and mount(8)'s (fuse(8), mount(8)).
package struct MountOptions: Hashable, Sendable {
  /// What the file system is mounted with, in the order given: for libfuse, which knows the kernel's flags
  /// among them.
  package var passedOn: [OptionList.Option] = []

  /// The shown owner of files; nil for the user who mounts (`uid`, `gid`).
  package var shownUser: UInt32?
  package var shownGroup: UInt32?
  /// Permissions that are taken away from all (`umask`).
  package var mask: UInt32 = 0
  /// Whom root mounts for (`setuid`): a name or number.
  package var account: String?
  package init() {}

  /// Takes an option if it is one of these.
  /// - Returns: whether it is.
  /// - Throws: `SettingsError` for a value that cannot be used.
  package mutating func take(_ option: OptionList.Option) throws(SettingsError) -> Bool {
    if let value = option.value, try Self.options.set(option.key, value, in: &self) { return true }
    guard (option.value == nil ? Self.flags : Self.valued).contains(option.key) else {
      return option.key.lowercased().hasPrefix("x-") || Self.ofOthers.contains(option.key)
    }
    passedOn.removeAll { $0.key == option.key }
    passedOn.append(option)
    return true
  }

  /// Takes a key of the configuration file if it is one of these: a flag has a value there.
  /// - Returns: whether it is.
  /// - Throws: `SettingsError` for a value that cannot be used.
  mutating func take(_ key: String, _ value: String) throws(SettingsError) -> Bool {
    let help = (Self.options.map(\.help) + Self.flagHelp).first { $0.key == key }
    if help?.place == .mountOnly { throw SettingsError("\(key) is an option of mount: -o \(key)=…") }
    guard Self.flags.contains(key) else {
      return help == nil ? false : try take(OptionList.Option(key, value))
    }
    guard let isOn = Form.flag.read(value) else {
      throw SettingsError("\(key)=\(value) is not valid: it takes on or off")
    }
    return isOn ? try take(OptionList.Option(key)) : true
  }

  package static let options: [Option<MountOptions>] = [
    .init(
      "uid", "USER", "who mounts", "the owner of all files, who may change things", \.shownUser, Form.user),
    .init("gid", "GROUP", "who mounts", "the group of all files", \.shownGroup, Form.group),
    .init("umask", "BITS", "0", "permissions to remove, in octal", \.mask, Form.permissions),
    .init(
      "setuid", "USER", nil, "for root: mount as this user, with this user's files", \.account, Form.line,
      .mountOnly),
  ]

  /// The most used of those that are passed on.
  static let flagHelp: [OptionHelp] = [
    .init("allow_other", nil, nil, "other users may read, too", .anywhere),
    .init("allow_root", nil, nil, "root may read, too", .anywhere),
    .init("auto_unmount", nil, nil, "unmount when the process dies", .anywhere),
    .init("fsname", "NAME", "podcastfs", "the device that df shows", .anywhere),
  ]

  private static let flags: Set<String> = words(
    """
    allow_other allow_root auto_unmount ro rw suid nosuid dev nodev exec noexec async sync dirsync atime noatime
    """)

  private static let valued: Set<String> = words("fsname subtype max_read")

  /// Options for mount(8), systemd and file managers, and options that would change nothing: podcastfs checks permissions
  /// itself, keeps no times of access, has no symbolic links, and tells the kernel how long to keep what.
  private static let ofOthers: Set<String> = words(
    """
    defaults auto noauto user nouser users nousers owner noowner group nogroup _netdev nofail comment silent loud lazytime
    nolazytime mand nomand iversion noiversion helper uhelper default_permissions diratime nodiratime relatime norelatime
    strictatime nostrictatime symfollow nosymfollow nonempty kernel_cache attr_timeout entry_timeout negative_timeout
    max_background use_ino readdir_ino
    """)

  private static func words(_ text: String) -> Set<String> {
    Set(text.split { $0.isWhitespace }.map(String.init))
  }
}
