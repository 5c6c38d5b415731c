/// What the manual page says of a mount, as the documentation does.
extension Manuals {
  static let tree = [
    ("Search/QUERY/PODCAST/DATE - EPISODE.mp3", "Searches: a folder for each podcast found."),
    ("Discover/CATEGORY/PODCAST/", "The offline directory by category, where it is installed."),
    ("Subscriptions/PODCAST/", "The podcasts that you follow; refreshed automatically."),
    ("Subscriptions/subscriptions.opml", "The list of them."),
    (
      "Search/QUERY/DATE - PODCAST - EPISODE.mp3",
      "Queries for episodes: is:unplayed newer:7d (podcastfs find)."
    ),
    ("Latest/", "The unplayed episodes of all subscriptions."),
    ("Queue/", "The episodes to play next, in order."),
    ("Downloading/, Downloading/Paused/, Downloading/Failed/", "Downloads that are not complete."),
    ("Downloaded/PODCAST/", "Complete downloads only: safe offline."),
    (".podcastfs/status.json, events, log", "Open by name, and are not listed."),
  ]

  static let verbs = [
    ("mkdir Search/QUERY", "Searches. Words like country:de and limit:20 set those parameters."),
    ("rmdir Search/QUERY", "Forgets the search."),
    ("mv Search/QUERY/PODCAST Subscriptions/", "Follows the podcast."),
    ("rmdir Subscriptions/PODCAST", "Stops following it."),
    ("cp FILE Subscriptions/", "Follows all of a list, or the feed or page that a link file names."),
    (
      "mv EPISODE Downloading/, Downloading/Paused/, Queue/",
      "Downloads, pauses or queues it; it stays where it was."
    ),
    (
      "rm EPISODE",
      "Stops or drops its download. In Search/ hides it, in Latest/ also marks it as played."
    ),
    (
      "setfattr -n user.podcastfs.state -v downloading|paused|remote EPISODE",
      "Starts or resumes, pauses, or cancels a download."
    ),
    ("getfattr -d EPISODE", "State, progress, size, rate, and what the feed says."),
  ]

  static let files = [
    ("~/.config/podcastfs/config", "Configuration: podcastfs.conf(5)."),
    ("~/.local/share/podcastfs/", "Catalogue and subscriptions."),
    ("~/.local/state/podcastfs/", "The state of downloads, and podcastfs.log."),
    ("~/.cache/podcastfs/", "Episodes: safe to delete at any time."),
  ]
}
