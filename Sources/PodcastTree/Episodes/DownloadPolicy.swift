internal import Configuration
internal import TransferProtocol

/// What an open of an episode may do: a pure function of who opens it, what is known of its download, and the option
/// `trigger`.
enum DownloadPolicy {
  struct Opener: Hashable, Sendable {
    var habit = Program.Habit.reads
    /// It starts nothing: another user, a program of `no_trigger`, an open with O_NOATIME; or the episode's address belongs
    /// to another episode now.
    var isBarred = false
    /// It has had the episode open since another process served the mount.
    var isReopening = false
    /// It is a sweep, and its download of this episode has lately left the queue.
    var hasLetGo = false
  }

  enum Decision: Hashable, Sendable {
    /// The open fails: no byte is here, and the handle may not fetch any.
    case refuse
    case open(OpenIntent, waits: Wait)
  }

  /// What the open waits for where the size is not known.
  enum Wait: Hashable, Sendable {
    case no
    /// The size comes with the first byte.
    case forFirstByte
    /// Without a length from the server only the end of the body tells the size.
    case forEnd
  }

  static func decide(_ opener: Opener, _ status: TransferStatus?, _ trigger: Settings.Trigger) -> Decision {
    if opener.isBarred { return (status?.received ?? 0) > 0 ? .open(.cachedOnly, waits: .no) : .refuse }
    let usual: OpenIntent =
      switch trigger {
      case .open: opener.habit == .browses ? .downloadAtRead : .download
      case .read: .downloadAtRead
      case .never: .fetchOnly
      }
    if opener.isReopening { return reopen(usual, opener, status?.state ?? .remote) }
    // Any open resumes a download that the user has paused.
    if usual == .download, opener.hasLetGo, status?.state != .paused {
      return .open(.fetchOnly, waits: .forFirstByte)
    }
    return open(usual, opener)
  }

  /// A change of process must not restart a download that was paused or dropped while the file was open: reads wait for
  /// it, or fetch what they need, as before.
  private static func reopen(_ usual: OpenIntent, _ opener: Opener, _ state: TransferState) -> Decision {
    switch state {
    case .queued, .downloading, .cached: open(usual, opener)
    case .remote, .paused: open(.fetchOnly, opener)
    case .failed: open(.cachedOnly, opener)
    }
  }

  private static func open(_ intent: OpenIntent, _ opener: Opener) -> Decision {
    .open(intent, waits: intent == .download && opener.habit == .copies ? .forEnd : .no)
  }
}

extension OpenIntent {
  var startsDownload: Bool { self == .download || self == .downloadAtRead }
}
