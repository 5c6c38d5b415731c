internal import Configuration
internal import PosixKit

package struct Caller: Hashable, Sendable {
  package var user: UInt32
  /// The thread's number; 0 where unknown.
  package var thread: Int32
  /// Whether it opens with O_NOATIME: to learn a file's type, or for a backup.
  package var sniffs: Bool
  /// For a file that was open when this process took the mount over: its generation, 0 if it had none. Nil for a new open.
  package var resumes: UInt32?

  package init(user: UInt32, thread: Int32, sniffs: Bool = false, resumes: UInt32? = nil) {
    (self.user, self.thread, self.sniffs, self.resumes) = (user, thread, sniffs, resumes)
  }

  package static func owner(_ owner: Owner) -> Caller { Caller(user: owner.user, thread: 0) }
}

package struct Owner: Hashable, Sendable {
  /// Who mounted, or whom `uid=` names.
  package var user: UInt32
  package var group: UInt32
  package var mounter: UInt32
  package var mask: UInt32

  package init(user: UInt32, group: UInt32, mounter: UInt32? = nil, mask: UInt32 = 0) {
    (self.user, self.mounter, self.group, self.mask) = (user, mounter ?? user, group, mask)
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

package struct Program: Hashable, Sendable {
  /// The process's number: the thread group's leader.
  package var process: Int32
  /// Its name, at most 15 bytes (proc(5), comm).
  package var name: String
}

package protocol ProgramTable: Sendable {
  /// The process that `thread` belongs to; nil where it has ended or lives in another pid namespace.
  func program(ofThread thread: Int32) -> Program?
  func arguments(of program: Program) -> [String]
}

package struct RunningPrograms: ProgramTable {
  package init() {}

  package func program(ofThread thread: Int32) -> Program? {
    guard thread > 0, let status = try? Directories.read("/proc/\(thread)/status", limit: 4096),
      let line = status.split(separator: 0x0a, maxSplits: 10).first(where: { $0.starts(with: "Tgid:".utf8) }),
      let leader = Int32(String(decoding: line.dropFirst(6), as: UTF8.self))
    else { return nil }
    return Program(process: leader, name: Processes.name(of: leader))
  }

  package func arguments(of program: Program) -> [String] { Processes.arguments(of: program.process) }
}

extension PodcastTree {
  /// Whether an open by this caller starts nothing: another user's, or one by a program of `no_trigger`.
  /// - Parameter known: its program; nil where that was not looked up.
  func isBarred(_ caller: Caller, _ known: Program? = nil) -> Bool {
    if !owner.admits(caller) { return true }
    guard let program = known ?? programs.program(ofThread: caller.thread) else { return false }
    if settings.noTrigger.contains(where: { $0.utf8.prefix(15).elementsEqual(program.name.utf8) }) {
      return true
    }
    // KDE's workers are one program for many tasks: a word of the arguments names the task.
    let words = settings.noTrigger.filter { $0.contains(".") }
    if words.isEmpty { return false }
    return programs.arguments(of: program).dropFirst().contains { argument in
      words.contains { argument == $0 || argument.hasSuffix("/" + $0) }
    }
  }
}

extension Program {
  /// What a program does with the bytes that it reads, by its name. Most are not known.
  enum Habit: Hashable, Sendable {
    /// It gets all that it asks for.
    case reads
    /// A player: it accepts short reads, so it gets the cached part at once.
    case plays
    /// It copies, packs or serves exactly st_size bytes.
    case copies
    /// It opens each file that it shows to look for its type, mostly without reading more than its beginning, in the
    /// thread that draws; and it copies in the same process. (Qt does so whatever the name says, and libfm.) Its first
    /// read starts a download, but for one of no more than the beginning.
    case browses
  }

  var habit: Habit {
    if Self.players.contains(name) { return .plays }
    if Self.copiers.contains(name) { return .copies }
    return Self.browsers.contains(name) ? .browses : .reads
  }

  /// Bytes at the beginning of a file that show its type. Programs that copy read more at once.
  static let typeLength = 16_384
  private static let browsers: Set<String> = [
    "dolphin", "konqueror", "krusader", "pcmanfm", "pcmanfm-qt", "plasmashell", "spacefm",
  ]

  /// Media players, and what they probe files with; names as in /proc/PID/comm, 15 bytes at the most.
  private static let players: Set<String> = [
    "alsaplayer", "amarok", "aqualung", "audacious", "celluloid", "clapper", "clementine", "cmus", "deadbeef",
    "decibels", "dragon", "elisa", "exaile", "ffmpeg", "ffplay", "ffprobe", "flac123", "gmusicbrowser",
    "gnome-music", "gst-launch-1.0", "gst-play-1.0", "guayadeque", "haruna", "herrie", "juk", "kaffeine",
    "kodi-gbm", "kodi-wayland", "kodi-x11", "kodi.bin", "lollypop", "mocp", "mpd", "mpg123", "mpg321",
    "mplayer", "mpv", "ogg123", "parole", "play", "pragha", "pw-cat", "pw-play", "qmmp", "quodlibet",
    "rhythmbox", "sayonara", "showtime", "smplayer", "sox", "strawberry", "totem", "vlc", "xine", "xmms2d",
  ]

  private static let copiers: Set<String> = [
    "7z", "7za", "7zr", "7zz", "apache2", "bsdtar", "caddy", "cpio", "git-annex", "httpd", "lighttpd", "nfsd",
    "nginx", "pax", "proftpd", "rclone", "rsync", "sftp-server", "smbd", "sshd", "sshd-session", "star",
    "tar",
    "unison", "zip",
  ]
}
