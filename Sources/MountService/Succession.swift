internal import Glibc
internal import MountHandover
internal import PosixKit

/// What makes a mount outlive the process that serves it: the keeper has the connection to the kernel too, and starts the
/// next process.
struct Succession: Sendable {
  let mountPoint: String
  let memory: HandoverMemory
  /// nil where the mount ends with this process.
  let keeper: Keeper?
  let log: LogFile

  /// To be called when requests are served, before programs use the mount.
  func begin(device: UInt64, places: UInt64) {
    do { try keeper?.begin() } catch { log.write("nobody keeps the mount on \(mountPoint): \(error)") }
    memory[.device] = device
    memory[.places] = places
    memory[.process] = UInt64(getpid())
  }

  /// Makes way for the next process, if there can be one: then this does not return.
  /// - Parameters:
  ///   - sender: the process that asks: where it is a podcastfs, its program serves from now on.
  ///   - prepare: waits until programs have closed the files that they write; this process still answers them meanwhile.
  func handOver(askedBy sender: Int32, _ prepare: () -> Void) {
    guard let keeper else { return }
    let asking = Directories.linkTarget("/proc/\(sender)/exe")
    let program = asking.flatMap { $0.hasSuffix("/podcastfs") ? $0 : nil } ?? ProgramArguments.file
    prepare()
    do { try keeper.handOver(to: program) } catch {
      return log.write("cannot hand the mount on \(mountPoint) over: \(error)")
    }
    memory[.handingOver] = 1
    log.write("hands the mount on \(mountPoint) over")
    // Told to end meanwhile, the next one does that.
    if Signals.isEndPending { memory[.ending] = 1 }
    // What it has not answered is asked of the next one.
    _exit(0)
  }
}
