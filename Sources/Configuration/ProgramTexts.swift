/// What the programs say of themselves, where help and manual pages both need it.
package enum ProgramTexts {
  package static let transferd = """
    podcastfs-transferd [--state DIR] [--cache DIR] [--runtime DIR] [--idle SECONDS]

    Fetches the episodes of one user into the cache of podcastfs, for all of the user's mounts. Mounts and commands
    start it when something is wanted; it ends after five minutes in which nothing was. Nobody needs to call it.
    Where the service manager listens on its socket, it takes that over.

      --state DIR      where it keeps what is wanted and how far it is ($XDG_STATE_HOME/podcastfs)
      --cache DIR      where it keeps episodes ($XDG_CACHE_HOME/podcastfs)
      --runtime DIR    where its socket and the maps of what is here are ($XDG_RUNTIME_DIR/podcastfs)
      --idle SECONDS   after which it ends where nothing is wanted (300)
    """
}
