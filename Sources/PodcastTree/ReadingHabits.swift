extension Program {
  /// What a program does with the bytes that it reads, by its name. Most are not known.
  enum Habit: Hashable, Sendable {
    /// It gets all that it asks for.
    case reads
    /// It goes on with as much as a read(2) gives it, and somebody listens: it gets what is here.
    case plays
    /// It takes st_size for the number of bytes that there are: it copies, packs or serves so many.
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

  /// Bytes of a file's beginning that tell its type: who copies reads more at once.
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
    "nginx",
    "pax", "proftpd", "rclone", "rsync", "sftp-server", "smbd", "sshd", "sshd-session", "star", "tar",
    "unison",
    "zip",
  ]
}
