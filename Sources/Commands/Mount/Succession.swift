internal import Configuration
internal import Glibc
internal import PosixKit

/// What makes a mount outlive the process that serves it: the keeper, or the service manager, has the connection to the
/// kernel too, and the next process gets it from there.
final class Succession: Sendable {
  private let request: MountRequest
  private let call: MountCall?
  private let memory: LastingMemory?
  private let connection: Int32
  private let device: String?
  private let keeper = Monitor<Keeper?>(nil)
  private let record = Monitor<RecordKeeper?>(nil)

  /// - Parameters:
  ///   - call: how the next process is called; nil where the mount is to end with this one.
  ///   - memory: what it needs to know.
  ///   - connection: the mount's descriptor of /dev/fuse.
  ///   - device: the mount's.
  init(
    _ request: MountRequest, call: MountCall?, memory: LastingMemory?, connection: Int32, device: String?
  ) {
    self.request = request
    self.call = call
    self.memory = memory
    self.connection = connection
    self.device = device
  }

  /// To be called when requests are served; before anybody relies on the mount.
  /// - Parameters:
  ///   - inheritance: what this process has taken over; nil where it has mounted.
  ///   - canBeFollowed: whether the kernel gives to the next process what this one has not answered.
  ///   - isRevived: whether the process before died.
  func begin(_ inheritance: MountInheritance?, canBeFollowed: Bool, isRevived: Bool) {
    guard let call, let memory, let device else { return }
    guard canBeFollowed else {
      request.log.write("the mount ends with its process: the kernel cannot hand it over (Linux 6.9 can)")
      return
    }
    GivenUp.forget(request.mountPoint, places: request.places)
    if ServiceManager.storesDescriptors {
      ServiceManager.store(connection, as: MountInheritance.connectionName)
      ServiceManager.store(memory.file, as: MountInheritance.memoryName)
    } else {
      let keeper = Keeper(
        connection: connection, memory: memory, call: call, inherited: inheritance?.keeper
      ) { [request] why, isNews in Self.tell(request, device, why, isNews) }
      keeper.begin()
      self.keeper.withLock { $0 = keeper }
    }
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

  /// Tells the log and `doctor` why nobody keeps the mount; nil where somebody does.
  private static func tell(_ request: MountRequest, _ device: String, _ why: String?, _ isNews: Bool) {
    let text = why.map { "nobody keeps the mount on \(request.mountPoint): \($0)" }
    if let text, isNews { request.log.write(text) }
    try? MountRecord.note(unkept: text, device: device, places: request.places)
  }

  /// Makes way for the next process, if there can be one: then this does not return.
  /// - Parameter prepare: keeps what that is to find; requests are served meanwhile.
  func handOver(_ prepare: () -> Void) {
    guard let call, let memory, let device else { return }
    var next = MountRecord.takeCall(device: device, places: request.places) ?? call
    if next.words.isEmpty { next.words = call.words }
    prepare()
    let isKept = ServiceManager.storesDescriptors
    if isKept {
      do { try MountRecord.keepOptions(next, device: device, places: request.places) } catch {
        request.log.write("the options of the mount on \(request.mountPoint) do not hold on: \(error)")
      }
    }
    guard isKept || keeper.withLock({ $0 })?.handOver(to: next) ?? false else {
      request.log.write("the mount cannot be handed over: nobody keeps it")
      return
    }
    memory[.handingOver] = 1
    request.log.write("hands the mount on \(request.mountPoint) over")
    // Told to end meanwhile, the next one does that.
    if Signals.isEndPending { memory[.ending] = 1 }
    // What it has not answered is asked of the next one. The service manager starts that after a failure.
    _exit(isKept ? Self.temporaryFailure : 0)
  }

  /// EX_TEMPFAIL of sysexits.h.
  private static let temporaryFailure: Int32 = 75

  /// The mount has ended.
  /// - Parameter inheritance: where this process has begun nothing.
  func end(_ inheritance: MountInheritance? = nil) {
    if let inheritance, let call, let inherited = inheritance.keeper {
      let keeper = Keeper(
        connection: connection, memory: inheritance.memory, call: call, inherited: inherited
      ) { _, _ in }
      self.keeper.withLock { $0 = keeper }
    }
    keeper.withLock { $0 }?.dismiss()
    if ServiceManager.storesDescriptors {
      ServiceManager.release(MountInheritance.connectionName)
      ServiceManager.release(MountInheritance.memoryName)
    }
    record.withLock { $0 }?.end()
    if let device { MountRecord.remove(device: device, places: request.places) }
  }
}
