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
  /// `notify` and `on_complete`, where this mount is the one of its user's that acts.
  private let roles = Monitor<Set<String>>([])
  private var catalogue: String { places.data + "/catalog.sqlite" }
  private let places: Places
  private let log: LogFile
  private let queue = WorkQueue(name: "completion")
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
    notifications = Notifications(mountPoint: mountPoint, log: log)
  }

  func completed(_ entry: EpisodeEntry, _ status: TransferStatus) {
    queue.async { [self] in
      if let command = settings.onComplete, acts("on_complete") {
        commands.async { [self] in
          // The command's files get the user's own umask, not the private one of this process.
          let script = "umask \(String(UserMask.bits, radix: 8))\n\(command)"
          Self.run("on_complete", "/bin/sh", ["-c", script], environment(of: entry, status), log)
        }
      }
      if notifies, acts("notify"), rule(entry.podcast.id) != false {
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
      if [status.state, before].contains(where: { $0 == .downloading || $0 == .queued }), acts("notify") {
        notifications.progress(status)
      }
    }
  }

  private func failed(_ status: TransferStatus) {
    queue.async { [self] in
      guard notifies, acts("notify") else { return }
      let entry = KnownEntries.all(forKeys: [status.key], inFile: catalogue).first
      if let entry, rule(entry.podcast.id) == false { return }
      let show = entry.map { folder(of: $0.podcast) } ?? status.show
      notifications.add(.init(title: status.title, show: show, error: status.error ?? "it failed"))
    }
  }

  /// New episodes of a podcast whose rules announce them.
  func appeared(_ episodes: [Episode], ofPodcast podcast: Int64) {
    queue.async { [self] in
      guard notifies, !episodes.isEmpty, acts("notify") else { return }
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

  /// Whether this mount is the one of its user's that acts: the daemon tells all of them the same. It is the first to lock
  /// the file of the role, until its process ends.
  private func acts(_ role: String) -> Bool {
    roles.withLock { roles in
      let path = "\(places.runtime)/\(role).lock"
      if !roles.contains(role), let file = try? FileDescriptor(opening: path, O_RDWR | O_CREAT),
        file.tryLock(.exclusive)
      {
        roles.insert(role)
        _ = file.release()
      }
      return roles.contains(role)
    }
  }
}
