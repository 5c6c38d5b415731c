internal import TransferProtocol

/// Whoever gives the engine orders: a connection.
protocol EngineClient: AnyObject {
  func send(_ message: DaemonMessage)
  /// Whether it wants to hear of every change.
  var observes: Bool { get }
  /// Whether it may know a fresh address for an expired one.
  var answersAddresses: Bool { get }
}
