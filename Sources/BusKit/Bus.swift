internal import CSystemd
package import PosixKit

/// A connection to a D-Bus daemon. It belongs to the thread of its loop, which calls all that it was given.
///
/// libsystemd is loaded with the first one: without that library there are no connections.
package final class Bus {
  package enum Which: Hashable, Sendable {
    /// The machine's: `DBUS_SYSTEM_BUS_ADDRESS`, or the usual socket.
    case system
    /// The session's: `DBUS_SESSION_BUS_ADDRESS`, or the socket in `XDG_RUNTIME_DIR`.
    case session
    /// The one at an address (D-Bus Specification, "Server Addresses").
    case at(String)
  }

  package struct Signal: Sendable {
    package let sender: String
    package let path: String
    package let member: String
    package let values: [BusValue]
  }

  package typealias Answer = Result<[BusValue], BusError>

  /// Waits for an answer, or hears signals.
  private final class Listener {
    unowned let bus: Bus
    let heard: (OpaquePointer) -> Void
    /// Whether one message is all that comes.
    let isOnce: Bool

    init(_ bus: Bus, isOnce: Bool, heard: @escaping (OpaquePointer) -> Void) {
      (self.bus, self.isOnce, self.heard) = (bus, isOnce, heard)
    }
  }

  private let loop: EventLoop
  private var connection: OpaquePointer?
  private let descriptor: Int32
  private var listeners: [ObjectIdentifier: Listener] = [:]
  private var timer: EventLoop.Timer?
  private let ended: () -> Void
  private var isWatched = false

  /// Begins to connect.
  /// - Parameter ended: called once when the daemon ends or refuses the connection; `close` does not call it.
  /// - Throws: where the library is not there, or nobody listens at the address.
  package init(_ which: Which, loop: EventLoop, ended: @escaping () -> Void) throws(BusError) {
    if let missing = Self.missing { throw missing }
    let connection = try Self.open(which)
    self.connection = connection
    self.loop = loop
    self.ended = ended
    descriptor = podcastfs_bus_get_fd(connection)
    goOnSoon()
  }

  deinit { close() }

  /// Why libsystemd cannot be loaded; nil where it can.
  package static var missing: BusError? {
    podcastfs_bus_load().map { BusError("cannot load libsystemd", String(cString: $0)) }
  }

  private static func open(_ which: Which) throws(BusError) -> OpaquePointer {
    var connection: OpaquePointer?
    var result: Int32
    switch which {
    case .system: result = podcastfs_bus_open_system(&connection)
    case .session: result = podcastfs_bus_open_user(&connection)
    case .at(let address):
      result = podcastfs_bus_new(&connection)
      if result >= 0 { result = podcastfs_bus_set_address(connection, address) }
      if result >= 0 { result = podcastfs_bus_set_bus_client(connection, 1) }
      if result >= 0 { result = podcastfs_bus_start(connection) }
    }
    guard result >= 0, let connection else {
      if let connection { _ = podcastfs_bus_close_unref(connection) }
      throw BusError("cannot connect to D-Bus", "\(Errno(rawValue: -result))")
    }
    return connection
  }

  /// Calls a method.
  /// - Parameters:
  ///   - seconds: after which there is no answer.
  ///   - answered: called once, before or after `call` returns; not after `close`.
  package func call(
    _ destination: String, _ path: String, _ interface: String, _ member: String,
    _ arguments: [BusValue] = [], seconds: Double = 10, answered: @escaping (Answer) -> Void = { _ in }
  ) {
    loop.assertCurrent()
    var message: OpaquePointer?
    defer { if let message { podcastfs_bus_message_unref(message) } }
    guard let connection,
      podcastfs_bus_message_new_method_call(connection, &message, destination, path, interface, member) >= 0,
      let message, arguments.allSatisfy({ BusMessage.append($0, to: message) })
    else { return answered(.failure(BusError("cannot call", member))) }
    let listener = Listener(self, isOnce: true) { answered(Self.answer(in: $0)) }
    let sent = podcastfs_bus_call_async(
      connection, nil, message, handler, keep(listener), UInt64(seconds * 1e6))
    goOnSoon()
    if sent >= 0 { return }
    listeners[ObjectIdentifier(listener)] = nil
    answered(.failure(BusError("cannot call \(member)", "\(Errno(rawValue: -sent))")))
  }

  /// Hears signals from now on.
  /// - Parameter rule: D-Bus Specification, "Match Rules".
  package func match(_ rule: String, _ heard: @escaping (Signal) -> Void) {
    loop.assertCurrent()
    guard let connection else { return }
    let listener = Listener(self, isOnce: false) { message in
      func text(_ bytes: UnsafePointer<CChar>?) -> String { bytes.map { String(cString: $0) } ?? "" }
      heard(
        Signal(
          sender: text(podcastfs_bus_message_get_sender(message)),
          path: text(podcastfs_bus_message_get_path(message)),
          member: text(podcastfs_bus_message_get_member(message)), values: BusMessage.values(of: message)))
    }
    _ = podcastfs_bus_add_match_async(connection, nil, rule, handler, nil, keep(listener))
    goOnSoon()
  }

  /// What was called brings no answer any more.
  package func close() {
    loop.assertCurrent()
    guard let connection else { return }
    self.connection = nil
    if isWatched { loop.unwatch(descriptor) }
    if let timer { loop.cancel(timer) }
    timer = nil
    _ = podcastfs_bus_close_unref(connection)
    listeners = [:]
  }

  private func keep(_ listener: Listener) -> UnsafeMutableRawPointer {
    listeners[ObjectIdentifier(listener)] = listener
    return Unmanaged.passUnretained(listener).toOpaque()
  }

  /// Takes each message that somebody waits for.
  fileprivate static func take(_ message: OpaquePointer, for data: UnsafeMutableRawPointer) {
    let listener = Unmanaged<Listener>.fromOpaque(data).takeUnretainedValue()
    if listener.isOnce { listener.bus.listeners[ObjectIdentifier(listener)] = nil }
    listener.heard(message)
  }

  private static func answer(in message: OpaquePointer) -> Answer {
    guard let error = podcastfs_bus_message_get_error(message) else {
      return .success(BusMessage.values(of: message))
    }
    func text(_ bytes: UnsafePointer<CChar>?) -> String { bytes.map { String(cString: $0) } ?? "" }
    return .failure(BusError(text(error.pointee.name), text(error.pointee.message)))
  }

  /// A handler may call methods while messages are processed: what follows is done behind that.
  private func goOnSoon() { loop.soon { [weak self] in self?.goOn() } }

  private func goOn() {
    while let connection {
      let result = podcastfs_bus_process(connection, nil)
      if result < 0 {
        close()
        return ended()
      }
      if result == 0 { break }
    }
    waitForMore()
  }

  private func waitForMore() {
    guard let connection else { return }
    if let timer { loop.cancel(timer) }
    timer = nil
    let interest = EventLoop.Ready(rawValue: Int16(max(podcastfs_bus_get_events(connection), 0)))
    if isWatched {
      loop.setInterest(descriptor, interest)
    } else {
      isWatched = true
      loop.watch(descriptor, interest) { [weak self] _ in self?.goOn() }
    }
    var time: UInt64 = .max
    if podcastfs_bus_get_timeout(connection, &time) >= 0, time < .max / 1000 {
      timer = loop.schedule(at: MonotonicTime(nanoseconds: time * 1000)) { [weak self] in
        self?.timer = nil
        self?.goOn()
      }
    }
  }
}

/// What sd-bus calls.
private func handler(
  _ message: OpaquePointer?, _ data: UnsafeMutableRawPointer?, _ error: UnsafeMutablePointer<sd_bus_error>?
) -> Int32 {
  if let message, let data { Bus.take(message, for: data) }
  return 0
}

/// Why something could not be done.
package struct BusError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A D-Bus error name like `org.freedesktop.DBus.Error.ServiceUnknown`, or our own words.
  package let name: String
  package let message: String

  init(_ name: String, _ message: String) { (self.name, self.message) = (name, message) }

  package var description: String { message.isEmpty ? name : "\(name): \(message)" }
}
