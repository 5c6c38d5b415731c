package import Configuration
internal import Glibc
internal import MountHandover
internal import PosixKit

/// A mount of this user's that has a process, or a keeper that is about to start the next one. It is found by the memory
/// that these hand on (`HandoverMemory.Identity`).
package struct MountServer: Sendable {
  /// The process that serves; nil between two of them.
  package let process: Int32?
  package let device: UInt64

  /// - Parameter places: those of the mounts; nil for the mounts of all users that this one may see.
  package static func all(places: Places?) -> [MountServer] {
    let wanted = places.map(number(of:))
    var servers: [UInt64: Int32?] = [:]
    for holder in Processes.all(named: ["podcastfs", "podcastfs-keep"]) {
      guard let mount = HandoverMemory.identity(inProcess: holder), wanted ?? mount.places == mount.places
      else { continue }
      let known = servers[mount.device] ?? nil
      servers[mount.device] = .some(mount.process == holder ? holder : known)
    }
    return servers.map { MountServer(process: $0.value, device: $0.key) }
  }

  package static func find(_ mountPoint: String, places: Places) -> MountServer? {
    guard let mount = MountTable.mount(on: mountPoint), mount.isOurs else { return nil }
    return all(places: places).first { $0.device == mount.device }
  }

  package static func mountPoints(places: Places) -> [String] {
    let devices = Set(all(places: places).map(\.device))
    return MountTable.all().filter { $0.isOurs && devices.contains($0.device) }.map(\.mountPoint)
  }

  /// A number that names the state directory; the hand-over memory of a mount holds it. 0 where the directory is missing.
  static func number(of places: Places) -> UInt64 {
    var status = stat()
    return stat(places.state, &status) == 0 ? UInt64(status.st_dev) << 40 ^ UInt64(status.st_ino) : 0
  }

  /// The one on `mountPoint`, with a process: waits for the next one where a process has just died.
  package static func findLiving(_ mountPoint: String, places: Places) -> MountServer? {
    guard find(mountPoint, places: places) != nil, MountProbe.look(at: mountPoint) == .alive else {
      return nil
    }
    return Waiting.poll(seconds: 5) {
      find(mountPoint, places: places).flatMap { $0.process == nil ? nil : $0 }
    }
  }

  /// Asks the process to let the calling program serve the mount, and waits until it does.
  /// - Throws: `MountFailure` saying why that did not come about.
  package func handOver(places: Places) throws {
    guard let process else { return }
    guard kill(process, Signals.handOver) == 0 else { throw MountFailure("\(Errno.current)") }
    let device = device
    let isDone = Waiting.poll(seconds: 20) { () -> Bool? in
      guard MountTable.all().contains(where: { $0.device == device }) else { return false }
      let next = Self.all(places: places).first { $0.device == device }?.process
      return next != nil && next != process ? true : nil
    }
    if isDone != true {
      throw MountFailure(
        "another process could not take the mount over\(isDone == nil ? ": see podcastfs doctor" : "")")
    }
  }
}

/// What could not be done, in one line for a person.
package struct MountFailure: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}
