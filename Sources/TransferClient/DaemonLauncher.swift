package import Configuration
internal import Glibc
internal import PosixKit
internal import TransferProtocol
internal import TransferStore

/// Finds the daemon, and starts it. Belongs to the session's loop.
final class DaemonLauncher {
  private let places: Places
  private let program: String?
  private let loop: EventLoop
  /// The daemon that this process has started; its descriptor is readable when it has ended.
  private var child: (process: Int32, ending: Int32?)?
  var failed: (TransferFailure) -> Void = { _ in }

  init(places: Places, program: String?, loop: EventLoop) {
    self.places = places
    self.program = program
    self.loop = loop
  }

  /// A connection to the daemon that runs; nil where none does.
  func connect() -> FileDescriptor? { DaemonPlace.connect(in: places.state) }

  /// A connection to a socket that the service manager listens on for the daemon, which it then starts.
  func activate() -> FileDescriptor? {
    DaemonPlace.connect(toOwn: DaemonPlace.socket(runtime: places.runtime))
  }

  /// Starts one, unless one that was started before still runs.
  func launch() {
    reap()
    if child != nil { return }
    guard let path = program ?? ChildProcess.find("podcastfs-transferd") else {
      return failed(TransferFailure(.EIO, "podcastfs-transferd is neither beside podcastfs nor in PATH"))
    }
    do throws(PosixError) {
      let process = try Self.start(path, places)
      let ending = ChildProcess.watch(process)?.release()
      child = (process, ending)
      if let ending { loop.watch(ending, .readable) { [weak self] _ in self?.reap() } }
    } catch {
      failed(TransferFailure(.EIO, "\(error)"))
    }
  }

  fileprivate static func start(_ path: String, _ places: Places) throws(PosixError) -> Int32 {
    let arguments = ["--state", places.state, "--cache", places.cache, "--runtime", places.runtime]
    return try ChildProcess.start(path, arguments, files: [nil, nil, nil])
  }

  func reap() {
    guard let child, let status = ChildProcess.reap(child.process) else { return }
    stop()
    // Killed ones are started again; one that gives up by itself would do so again.
    guard (1..<128).contains(status) else { return }
    let isFull = status == DaemonPlace.noRoomStatus
    let why =
      DaemonPlace.failure(in: places.state)
      ?? (isFull ? "no space left on the disk" : "podcastfs-transferd ended with status \(status)")
    failed(TransferFailure(isFull ? .ENOSPC : .EIO, why))
  }

  func stop() {
    if let ending = child?.ending {
      loop.unwatch(ending)
      close(ending)
    }
    child = nil
  }
}

extension TransferClient {
  /// Starts the daemon where downloads are unfinished and no daemon runs, as after a reboot. It does not wait for it.
  package static func resumeUnfinished(_ places: Places) {
    guard access(TransferStore.path(in: places.state), F_OK) == 0,
      let store = try? TransferStore(reading: places.state), (try? store.hasUnfinished()) == true,
      DaemonPlace.connect(in: places.state) == nil, (try? places.create()) != nil,
      // A socket of the service manager starts it.
      DaemonPlace.connect(toOwn: DaemonPlace.socket(runtime: places.runtime)) == nil,
      let path = ChildProcess.find("podcastfs-transferd")
    else { return }
    _ = try? DaemonLauncher.start(path, places)
  }
}
