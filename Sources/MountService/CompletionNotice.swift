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
  private let places: Places
  private let log: LogFile
  /// The rule `notify` of a podcast; nil where it has none.
  private let rule: @Sendable (_ podcast: Int64) -> Bool?
  /// `notify` and `on_complete`, where this mount is the one of its user's that acts.
  private let roles = Monitor<Set<String>>([])
  private let queue = WorkQueue(name: "completion")
  private let notifications: Notifications
  /// Each runs one command at a time; further completions wait.
  private let commands = WorkQueue(name: "on-complete", threads: 2)

  init(_ request: MountRequest, rule: @escaping @Sendable (_ podcast: Int64) -> Bool?) {
    (settings, mountPoint, places) = (request.settings, request.mountPoint, request.places)
    (log, self.rule) = (request.log, rule)
    notifications = Notifications(mountPoint: mountPoint, log: log)
  }

  func completed(_ entry: EpisodeEntry, _ status: TransferStatus) {
    queue.async { [self] in
      let (episode, podcast) = (entry.episode, entry.podcast)
      let folder = "\(mountPoint)/Downloaded/\(podcast.name)"
      let path = "\(folder)/\(episode.fileName)"
      if let command = settings.onComplete, acts("on_complete") {
        commands.async { [self] in
          // The command's files get the user's own umask, not the private one of this process.
          let script = "umask \(String(UserMask.bits, radix: 8))\n\(command)"
          Self.run("on_complete", "/bin/sh", ["-c", script], environment(path, entry, status), log)
        }
      }
      if notifies(podcast.id) {
        let cover = SidecarCopies.cover(of: podcast, in: places).map { "\(folder)/\($0)" }
        notifications.add(.init(title: episode.title, show: name(of: podcast), path: path, cover: cover))
      }
    }
  }

  /// Watches downloads that run or fail from now on.
  func watch(_ transfers: TransferClient) {
    let known = Monitor(transfers.allStatuses().reduce(into: [:]) { $0[$1.key] = $1.state })
    transfers.observe { [self] key in
      guard isNotifying, let status = transfers.status(of: key), status.isEpisode else { return }
      let before = known.withLock { known in
        known.updateValue(status.state, forKey: key)
      }
      if status.state == .failed && before != .failed { failed(status) }
      if [status.state, before].contains(where: { $0 == .downloading || $0 == .queued }), acts("notify") {
        notifications.changed(status)
      }
    }
  }

  private func failed(_ status: TransferStatus) {
    queue.async { [self] in
      let podcast = KnownEntries.all(forKeys: [status.key], inFile: catalogue).first?.podcast
      guard notifies(podcast?.id) else { return }
      notifications.add(
        .init(
          title: status.title, show: podcast.map(name) ?? status.show, error: status.error ?? "it failed"))
    }
  }

  /// New episodes of a podcast whose rules announce them.
  func appeared(_ episodes: [Episode], ofPodcast podcast: Int64) {
    queue.async { [self] in
      guard notifies(nil), !episodes.isEmpty else { return }
      let folder = KnownEntries.folderNames(ofPodcasts: [podcast], inFile: catalogue)[podcast] ?? ""
      let titles = episodes.suffix(Self.mostTitles).reversed().map(\.title)
      let rest = episodes.count - titles.count
      Notifications.show(
        "New in \(folder)", titles.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : ""))
    }
  }

  private static let mostTitles = 3

  private var catalogue: String { places.data + "/catalog.sqlite" }

  private func name(of podcast: Podcast) -> String {
    KnownEntries.folderNames(ofPodcasts: [podcast.id], inFile: catalogue)[podcast.id] ?? podcast.title
  }

  /// Whether this mount notifies of a podcast's downloads.
  private func notifies(_ podcast: Int64?) -> Bool {
    isNotifying && acts("notify") && podcast.flatMap(rule) != false
  }

  private var isNotifying: Bool { settings.notifies && Notifications.isPossible }

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
  private func environment(_ path: String, _ entry: EpisodeEntry, _ status: TransferStatus) -> [String:
    String]
  {
    let (episode, podcast) = (entry.episode, entry.podcast)
    let facts: [String: String?] = [
      "PATH": path, "TITLE": episode.title, "SHOW": podcast.title, "AUTHOR": podcast.author,
      "GUID": episode.guid, "URL": episode.enclosureURL.shown(isListed: podcast.isListed),
      "FEED_URL": podcast.feedURL.shown(isListed: podcast.isListed),
      "PUBLISHED": episode.isDated ? CivilTime.iso8601(episode.published) : nil,
      "DURATION": episode.duration.map { String($0) }, "SIZE": status.total.map { String($0) },
    ]
    return facts.reduce(into: Places.processEnvironment) { $0["PODCASTFS_" + $1.key] = $1.value }
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
