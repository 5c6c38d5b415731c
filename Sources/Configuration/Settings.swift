package import PodcastModel
package import PosixKit

/// The program's version (Semantic Versioning), as `--version`, the user agent and the root's attribute say it.
package let podcastfsVersion = "0.2.0"

/// Every option, with its default. `Settings.options` has their keys and meaning. Times are seconds, sizes bytes; nil is no
/// bound, or the usual.
package struct Settings: Hashable, Sendable {
  package var mountOptions = MountOptions()

  package var searchURL: String?
  package var country = "us"
  package var searchLimit = 50

  package var cacheSize: Int64 = 10 << 30
  package var minimumFree: Int64 = 1 << 30

  package var downloads = 3
  package var perHost = 2
  package var limitRate: Int64?
  package var restsOnMetered = true
  /// They rest on battery below this charge in percent: 101 means at any charge, 0 never.
  package var restsBelowCharge = 0
  package var downloadHours: DailyHours?
  package var stallTimeout = 30.0
  package var readTimeout = 60.0
  package var connectTimeout = 15.0

  package var refresh = 3600
  package var catalogueSize: Int64 = 2 << 30

  package var directoryURL: String?
  package var directoryFile: String?
  /// Days after which the directory is fetched again; nil for never.
  package var directoryEvery: Int?

  package var trigger = Trigger.open
  package var noTrigger: [String] = Settings.knownIndexers
  package var sidecars: Set<Sidecar> = [.cover, .transcript]
  package var transcripts = FetchedTranscripts.none
  package var latest = 100
  package var latestDays = 60
  package var queueAhead = 3
  package var playedMargin = 30
  package var notifies = true
  package var onComplete: String?

  package var proxy: String?
  /// The environment's `http_proxy` and the like, which hold where `proxy` is not set.
  package var proxyVariables: [String: String] = [:]
  package var userAgent: String?
  package var certificateAuthorities: String?

  /// The section `[subscriptions]`: rules of all subscriptions, where neither they nor their feeds' sections say otherwise.
  package var rules = SubscriptionRules()
  /// What the configuration file sets for single feeds, by the feed's address as the file has it.
  package var feeds: [String: FeedSettings] = [:]

  package var sync: SyncSettings?

  /// Where `searchURL` is not set.
  package static let appleSearchURL = "https://itunes.apple.com/search"

  package init() {}

  /// What requests are sent as: the setting, else the program and its version.
  package var effectiveUserAgent: String { userAgent ?? "podcastfs/\(podcastfsVersion)" }

  package enum Trigger: String, Sendable, CaseIterable { case open, read, never }

  /// The episodes whose transcripts are fetched though no program has opened them.
  package enum FetchedTranscripts: String, CaseIterable, Sendable {
    case none
    /// Those of downloaded episodes of subscriptions.
    case followed
  }

  package enum Sidecar: String, Sendable, CaseIterable { case cover, transcript, chapters, notes }

  /// Thumbnailers, indexers and tag readers of the desktops, by the name in /proc/PID/comm (15 bytes at most), or by
  /// a word of their arguments, where one program does many things.
  package static let knownIndexers = """
    tumblerd tracker-miner-f tracker-extract localsearch-3 localsearch-ext baloo_file baloo_file_extr baloorunner
    updatedb updatedb.mlocat updatedb.plocat mlocate plocate totem-video-thu ffmpegthumbnail gnome-sushi recollindex
    kioslave5 kioworker kio_thumbnail thumbnail.so gdk-pixbuf-thum evince-thumbnai rygel minidlnad gvfsd-metadata
    strawberry-tagr clementine-tagr
    """.split { $0.isWhitespace }.map(String.init)
}
