internal import PosixKit
internal import TransferProtocol

/// Mounts that live and have not joined the daemon: it has only just begun, or they have. What one mount orders is seen
/// in all others at the next call: so no order is answered before they hear of it. Belongs to the loop.
final class AbsentMounts {
  private let state: String
  private let loop: EventLoop
  private let goOn: () -> Void
  private var timer: EventLoop.Timer?
  /// Those that have not come in time (stopped, or in a namespace of their own) are not waited for again.
  private var missed: Set<Int32> = []
  /// In seconds.
  private static let patience = 2.0

  /// - Parameter goOn: called when nobody is waited for any more.
  init(state: String, loop: EventLoop, goOn: @escaping () -> Void) {
    self.state = state
    self.loop = loop
    self.goOn = goOn
  }

  /// Whether somebody is to join before orders are answered. What joins has this asked again.
  func areExpected(besides clients: some Sequence<ClientConnection>) -> Bool {
    let absent = absent(besides: clients)
    if absent.isEmpty {
      if let timer { loop.cancel(timer) }
      timer = nil
      return false
    }
    if timer == nil {
      timer = loop.schedule(at: .after(Self.patience)) { [weak self] in
        self?.timer = nil
        self?.missed.formUnion(absent)
        self?.goOn()
      }
    }
    return true
  }

  private func absent(besides clients: some Sequence<ClientConnection>) -> Set<Int32> {
    let living = MountMark.processes(in: state)
    missed.formIntersection(living)
    return living.subtracting(missed).subtracting(clients.lazy.filter(\.hasGreeted).map(\.process))
  }
}
