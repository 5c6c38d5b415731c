internal import Catalog
internal import Configuration
internal import Glibc
internal import PodcastModel
internal import PodcastTree
internal import PosixKit
internal import TransferClient
internal import TransferProtocol

/// Notifies the user when a download is complete or fails, and runs the user's command for a complete one (`notify`,
/// `on_complete`). On threads of its own, because either may take any time.
final class CompletionNotice: Sendable {
  private let settings: Settings
  private let mountPoint: String
  /// Of marks that say which completions have been taken, by whichever mount was first.
  private var marks: String { places.runtime + "/completed" }
  private var catalogue: String { places.data + "/catalog.sqlite" }
  private let places: Places
  private let log: LogFile
  private let claims = WorkQueue(name: "completion")
  private let notifications: Notifications
  /// The rule `notify` of a podcast; nil where it has none.
  private let rule: @Sendable (_ podcast: Int64) -> Bool?
  /// Each runs one command at a time; further completions wait.
  private let commands = WorkQueue(name: "on-complete", threads: 2)

  init(
    settings: Settings, mountPoint: String, places: Places, log: LogFile,
    rule: @escaping @Sendable (_ podcast: Int64) -> Bool?
  ) {
    (self.rule, self.settings, self.mountPoint) = (rule, settings, mountPoint)
    (self.places, self.log) = (places, log)
    notifications = Notifications(
      mountPoint: mountPoint, lockFile: places.runtime + "/notifications.lock", log: log)
  }

  func completed(_ entry: EpisodeEntry, _ status: TransferStatus) {
    claims.async { [self] in
      let command = settings.onComplete
      guard command != nil || notifies, claim(status) else { return }
      if let command {
        commands.async { [self] in
          // The command's files get the user's own umask, not the private one of this process.
          let script = "umask \(String(UserMask.bits, radix: 8))\n\(command)"
          Self.run("on_complete", "/bin/sh", ["-c", script], environment(of: entry, status), log)
        }
      }
      if notifies, rule(entry.podcast.id) != false {
        let folder = "\(mountPoint)/Downloaded/\(entry.podcast.name)"
        notifications.add(
          .init(
            title: entry.episode.title, show: self.folder(of: entry.podcast),
            path: "\(folder)/\(entry.episode.fileName)",
            cover: SidecarCopies.cover(of: entry.podcast, in: places).map { "\(folder)/\($0)" }))
      }
    }
  }

  /// Watches downloads that run or fail from now on.
  func watch(_ transfers: TransferClient) {
    let known = Monitor(transfers.allStatuses().reduce(into: [:]) { $0[$1.key] = $1.state })
    transfers.observe { [self] key in
      guard notifies, let status = transfers.status(of: key), status.isEpisode else { return }
      let before = known.withLock { known in
        known.updateValue(status.state, forKey: key)
      }
      if status.state == .failed && before != .failed { failed(status) }
      if [status.state, before].contains(where: { $0 == .downloading || $0 == .queued }) {
        notifications.progress(status)
      }
    }
  }

  private func failed(_ status: TransferStatus) {
    claims.async { [self] in
      guard notifies, claim(status) else { return }
      let entry = KnownEntries.all(forKeys: [status.key], inFile: catalogue).first
      if let entry, rule(entry.podcast.id) == false { return }
      let show = entry.map { folder(of: $0.podcast) } ?? status.show
      notifications.add(.init(title: status.title, show: show, error: status.error ?? "it failed"))
    }
  }

  /// New episodes of a podcast whose rules announce them.
  func appeared(_ episodes: [Episode], ofPodcast podcast: Int64) {
    claims.async { [self] in
      guard notifies, let last = episodes.last, claim("new-\(last.id)") else { return }
      let folder = KnownEntries.folderNames(ofPodcasts: [podcast], inFile: catalogue)[podcast] ?? ""
      let titles = episodes.suffix(Self.mostTitles).reversed().map(\.title)
      let rest = episodes.count - titles.count
      Notifications.show(
        "New in \(folder)", titles.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : ""))
    }
  }

  private static let mostTitles = 3

  private func folder(of podcast: Podcast) -> String {
    KnownEntries.folderNames(ofPodcasts: [podcast.id], inFile: catalogue)[podcast.id] ?? podcast.title
  }

  private var notifies: Bool { settings.notifies && Notifications.isPossible }

  /// Runs a program and waits for its end.
  static func run(
    _ name: String, _ path: String, _ arguments: [String], _ environment: [String: String]?, _ log: LogFile
  ) {
    do {
      let status = try ChildProcess.wait(ChildProcess.start(path, arguments, environment: environment))
      if status != 0 { log.write("\(name) ended with status \(status)") }
    } catch {
      log.write("cannot run \(name): \(error)")
    }
  }

  /// Titles are data to the shell, never part of a command.
  private func environment(of entry: EpisodeEntry, _ status: TransferStatus) -> [String: String] {
    let (episode, podcast) = (entry.episode, entry.podcast)
    var variables = Places.processEnvironment
    variables["PODCASTFS_PATH"] = "\(mountPoint)/Downloaded/\(podcast.name)/\(episode.fileName)"
    variables["PODCASTFS_TITLE"] = episode.title
    variables["PODCASTFS_SHOW"] = podcast.title
    variables["PODCASTFS_AUTHOR"] = podcast.author
    variables["PODCASTFS_GUID"] = episode.guid
    variables["PODCASTFS_URL"] = episode.enclosureURL.shown(isListed: podcast.isListed)
    variables["PODCASTFS_FEED_URL"] = podcast.feedURL.shown(isListed: podcast.isListed)
    variables["PODCASTFS_PUBLISHED"] = episode.isDated ? CivilTime.iso8601(episode.published) : nil
    variables["PODCASTFS_DURATION"] = episode.duration.map { String($0) }
    variables["PODCASTFS_SIZE"] = status.total.map { String($0) }
    return variables
  }

  /// Seconds after which no mount can still hear of a completion for the first time.
  private static let lifetime: Int64 = 3600

  /// Whether this mount is the one that acts: the daemon tells all mounts the same of a completion, and the
  /// first to make its mark has it.
  private func claim(_ status: TransferStatus) -> Bool {
    claim("\(status.key.text)-\(status.generation)-\(status.changed)")
  }

  private func claim(_ name: String) -> Bool {
    do {
      try Directories.create(marks)
      for old in try Directories.names(in: marks) {
        var found = stat()
        let path = marks + "/" + old
        if lstat(path, &found) == 0, Int64(found.st_mtim.tv_sec) < wallClockSeconds() - Self.lifetime {
          unlink(path)
        }
      }
      _ = try FileDescriptor(opening: "\(marks)/\(name)", O_WRONLY | O_CREAT | O_EXCL)
      return true
    } catch {
      if error.errno != .EEXIST { log.write("cannot mark a completion: \(error)") }
      return false
    }
  }
}
