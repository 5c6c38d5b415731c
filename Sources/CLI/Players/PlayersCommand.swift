internal import BusKit
internal import PosixKit

enum PlayersCommand: Command {
  static let usage = """
    podcastfs players

    Stores your position while a media player plays an episode, and resumes there when a player opens it again. It knows all
    players that the desktop can control (MPRIS): VLC, Celluloid, Rhythmbox, Audacious, mpv with mpv-mpris. Runs until the
    session ends. To start it at each login:

    systemctl --user enable --now podcastfs-players
    """

  static func run(_ arguments: inout ArgumentList) throws {
    _ = try arguments.operands()
    let loop = try EventLoop()
    let watch: PlayerWatch
    do { watch = try PlayerWatch(loop) } catch {
      throw CommandFailure("there is no desktop session: \(error)")
    }
    Signals.blockEnding()
    PosixThread.start("signals") {
      Signals.waitForEnding()
      loop.stop()
    }
    loop.run()
    withExtendedLifetime(watch) {}
  }
}
