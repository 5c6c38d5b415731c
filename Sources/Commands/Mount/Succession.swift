internal import Configuration
internal import Glibc
internal import MountHandover
internal import PosixKit

/// What makes a mount outlive the process that serves it: the keeper has the connection to the kernel too, and starts the
/// next process.
final class Succession: Sendable {
  private let request: MountRequest
  private let call: MountCall?
  private let memory: HandoverMemory?
  private let device: String?
  private let keeper: Keeper?
  private let record = Monitor<RecordKeeper?>(nil)

  /// - Parameters:
  ///   - call: how the next process is called; nil where the mount is to end with this one.
  ///   - memory: what it needs to know.
  ///   - connection: the mount's descriptor of /dev/fuse.
  ///   - device: the mount's.
  ///   - inheritance: what this process has taken over; nil where it has mounted.
  init(
    _ request: MountRequest, call: MountCall?, memory: HandoverMemory?, connection: Int32, device: String?,
    _ inheritance: InheritedMount?
  ) {
    self.request = request
    self.call = call
    self.memory = memory
    self.device = device
    keeper =
      if let call, let memory {
        Keeper(connection: connection, memory: memory, call: call, inherited: inheritance?.keeper) { why in
          request.log.write("nobody keeps the mount on \(request.mountPoint): \(why)")
        }
      } else {
        nil
      }
  }

  /// To be called when requests are served; before anybody relies on the mount.
  /// - Parameter isRevived: whether the process before died.
  func begin(isRevived: Bool) {
    guard let keeper, let device else { return }
    GivenUp.forget(request.mountPoint, places: request.places)
    keeper.begin()
    do {
      let record = try RecordKeeper(MountRecord.path(device, request.places)) { [request] in
        guard MountTable.mount(on: request.mountPoint)?.device == device else { return false }
        try MountRecord.write(
          request.mountPoint, device: device, isRevived: isRevived, places: request.places)
        return true
      }
      self.record.withLock { $0 = record }
    } catch {
      request.log.write("podcastfs restart will not find the mount: \(error)")
    }
  }

  /// Makes way for the next process, if there can be one: then this does not return.
  /// - Parameter prepare: keeps what that is to find; requests are served meanwhile.
  func handOver(_ prepare: () -> Void) {
    guard let call, let memory, let device else { return }
    var next = MountRecord.takeCall(device: device, places: request.places) ?? call
    if next.words.isEmpty { next.words = call.words }
    prepare()
    guard keeper?.handOver(to: next) ?? false else {
      request.log.write("the mount cannot be handed over: nobody keeps it")
      return
    }
    memory[.handingOver] = 1
    request.log.write("hands the mount on \(request.mountPoint) over")
    // Told to end meanwhile, the next one does that.
    if Signals.isEndPending { memory[.ending] = 1 }
    // What it has not answered is asked of the next one.
    _exit(0)
  }

  /// The mount has ended.
  func end() {
    keeper?.dismiss()
    record.withLock { $0 }?.end()
    if let device { MountRecord.remove(device: device, places: request.places) }
  }
}
