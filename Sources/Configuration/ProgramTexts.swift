/// What the programs say of themselves, where help and manual pages both need it.
package enum ProgramTexts {
  package static let transferd = """
    podcastfs-transferd [--state DIR] [--cache DIR] [--runtime DIR] [--idle SECONDS]

    Downloads the episodes of one user into the cache of podcastfs, for all mounts of that user. Mounts and commands
    start it when there is something to download; it ends after five idle minutes. Nobody needs to call it. Where the
    service manager listens on its socket, it takes that over.

      --state DIR      where it keeps the state of downloads ($XDG_STATE_HOME/podcastfs)
      --cache DIR      where it keeps episodes ($XDG_CACHE_HOME/podcastfs)
      --runtime DIR    where its socket and its shared memory are ($XDG_RUNTIME_DIR/podcastfs)
      --idle SECONDS   idle time after which it ends (300)
    """
}
