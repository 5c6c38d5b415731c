internal import BusKit
internal import PosixKit

/// `podcastfs players`.
enum PlayersCommand: Command {
  static let name = "players"
  static let summary = "keep the positions of what media players play"
  static let worksOnMounts = false
  static let usage = """
    podcastfs players

    Stores how far media players are in episodes: all that can be controlled by the desktop (MPRIS), such as VLC,
    Celluloid, Rhythmbox, Audacious, and mpv with mpv-mpris. A player that opens an episode resumes where you stopped.
    Runs until the session ends, and sleeps while no episode plays.

    systemctl --user enable --now podcastfs-players has it run at each login.
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    guard try arguments.operands().isEmpty else { throw UsageError("players takes no arguments") }
    let loop = try EventLoop()
    let watch: PlayerWatch
    do { watch = try PlayerWatch(loop) } catch { throw CommandFailure("\(error)") }
    Signals.blockEnding()
    PosixThread.start("signals") {
      Signals.waitForEnding()
      loop.stop()
    }
    loop.run()
    withExtendedLifetime(watch) {}
    return 0
  }
}
