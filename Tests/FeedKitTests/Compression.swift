import PosixKit
import TestSupport

/// What servers do to bodies.
enum Compression {
  static func gzip(_ bytes: [UInt8]) throws -> [UInt8] {
    let directory = try TemporaryDirectory()
    let (plain, coded) = (directory.path("plain"), directory.path("coded"))
    try Directories.replace(plain, with: bytes)
    let outcome = try ChildProcess.run(["sh", "-c", "gzip -nc \"$0\" >\"$1\"", plain, coded])
    precondition(outcome.status == 0)
    return try Directories.read(coded)
  }
}
