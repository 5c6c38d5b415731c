internal import Glibc
internal import PosixKit

/// A D-Bus daemon of a test's own, with services that python3-dbusmock plays. None of them outlives the tests' process.
package final class PrivateBus: Sendable {
  private let directory: TemporaryDirectory
  private let daemon: RunningProcess
  /// Its end of file ends the processes: nothing is ever written.
  private let life: Pipe
  package let address: String

  /// Whether dbus-daemon(1), busctl(1) and python3-dbusmock are there.
  package static let isAvailable =
    access("/usr/bin/dbus-daemon", X_OK) == 0 && access("/usr/bin/busctl", X_OK) == 0
    && access("/usr/lib/python3/dist-packages/dbusmock/__init__.py", R_OK) == 0

  /// - Parameter address: of one that has ended; nil for a new one.
  package init(at address: String? = nil) throws {
    directory = try TemporaryDirectory()
    let address = address ?? "unix:path=\(directory.path("bus"))"
    self.address = address
    life = try Pipe()
    daemon = try Self.start(
      ["/usr/bin/dbus-daemon", "--session", "--nofork", "--print-address=1", "--address=\(address)"],
      environment: ["PATH": "/usr/bin:/bin"], life: life.reader.rawValue)
    guard daemon.waitForOutput({ $0.contains("unix:") }) else {
      throw PosixError(.ETIMEDOUT, "start dbus-daemon: \(daemon.errors)")
    }
  }

  /// Starts a program below a shell that waits for the end of `life`. The kernel kills the program with the shell.
  private static func start(
    _ call: [String], environment: [String: String], life: Int32
  ) throws -> RunningProcess {
    let script = "setpriv --pdeathsig KILL -- \"$@\" 3<&- & read -r _ <&3"
    return try RunningProcess(
      "/bin/sh", ["-c", script, "sh"] + call, environment: environment, third: life)
  }

  /// Variables for programs that are to find it.
  package var variables: [String: String] {
    ["DBUS_SYSTEM_BUS_ADDRESS": address, "DBUS_SESSION_BUS_ADDRESS": address]
  }

  /// Ends it, as a logout does.
  package func end() {
    daemon.signal(SIGTERM)
    _ = daemon.wait()
  }

  /// Runs Python that plays a service: `bus` is the connection, `mock(name, path, interface, properties)` makes an object
  /// of dbusmock's. It has begun when this returns.
  package func play(_ script: String) throws -> RunningProcess {
    let whole = """
      import os, sys, threading
      import dbus, dbus.service, dbus.mainloop.glib
      from gi.repository import GLib
      dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
      bus = dbus.bus.BusConnection(os.environ['DBUS_SESSION_BUS_ADDRESS'])
      def mock(name, path, interface, properties):
        import dbusmock
        global names
        names = globals().get('names', []) + [dbus.service.BusName(name, bus)]
        return dbusmock.mockobject.DBusMockObject(names[-1], path, interface, properties)
      \(script)
      print('ready', flush=True)
      GLib.MainLoop().run()
      """
    let process = try Self.start(
      ["/usr/bin/python3", "-c", whole],
      environment: variables.merging(["PATH": "/usr/bin:/bin"]) { first, _ in first },
      life: life.reader.rawValue)
    guard process.waitForOutput({ $0.contains("ready") }) else {
      throw PosixError(.ETIMEDOUT, "play a service: \(process.errors)")
    }
    return process
  }

  /// Calls a method of a service, by busctl(1).
  package func call(_ words: String...) throws {
    let process = try RunningProcess(
      "/usr/bin/busctl", ["--address=\(address)", "call"] + words, environment: ["PATH": "/usr/bin:/bin"])
    guard process.wait() == .exit(0) else { throw PosixError(.EIO, "busctl: \(process.errors)") }
  }
}
