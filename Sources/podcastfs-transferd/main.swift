internal import Configuration
internal import Glibc
internal import PosixKit
internal import TransferProtocol
internal import Transfers

/// Ends with one line that says why.
func fail(_ message: String, _ status: Int32 = 1) -> Never {
  let line = "podcastfs-transferd: \(message)\n"
  _ = write(2, line, line.utf8.count)
  ProgramEnd.leave(status)
}

/// Where it could not begin: for who waits, for the log, and for who asks later.
func fail(_ error: any Error, in state: String?) -> Never {
  if let state {
    LogFile(Places.logFile(in: state)).write("the transfer daemon cannot start: \(error)")
    try? Directories.replace(DaemonPlace.failureFile(in: state), with: Array("\(error)\n".utf8))
  }
  fail("\(error)", TransferDaemon.isForLackOfRoom(error) ? DaemonPlace.noRoomStatus : 1)
}

let usage = "usage: podcastfs-transferd [--state DIR] [--cache DIR] [--runtime DIR] [--idle SECONDS]"

StandardDescriptors.complete()
Signals.ignoreFailedWrites()
var state: String?
do {
  var places = try Places()
  var idleTime = 300.0
  var arguments = ProgramArguments.all.dropFirst()
  while let option = arguments.popFirst() {
    guard let value = arguments.popFirst() else { fail(usage, 64) }
    switch option {
    case "--state": places.state = value
    case "--cache": places.cache = value
    case "--runtime": places.runtime = value
    case "--idle": idleTime = Double(value) ?? idleTime
    default: fail(usage, 64)
    }
  }
  state = places.state
  let inheritedSocket = SocketActivation.listener()
  // Before the first thread, so that every thread has them blocked and one waits for them.
  Signals.blockEnding()
  // Addresses may hold tokens: what is made is for this user alone.
  UserMask.restrict()
  ResourceLimits.raiseOpenFiles()
  ResourceLimits.saveMemory()
  let daemon = try TransferDaemon(places, idleTime: idleTime, inheritedSocket: inheritedSocket)
  PosixThread.start("signals") {
    Signals.waitForEnding()
    daemon.stop()
  }
  // Where another one serves this user already, all is well too.
  _ = try daemon.run()
} catch {
  fail(error, in: state)
}
ProgramEnd.leave(0)
