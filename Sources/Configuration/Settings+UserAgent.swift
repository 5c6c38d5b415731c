extension Settings {
  /// What requests are sent as: the setting, else the program and its version.
  package var effectiveUserAgent: String { userAgent ?? "podcastfs/\(podcastfsVersion)" }
}
