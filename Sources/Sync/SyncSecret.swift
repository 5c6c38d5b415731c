internal import Configuration
internal import Glibc
internal import PodcastModel
internal import PosixKit

extension SyncSettings {
  /// What the server calls this device.
  var effectiveDevice: String {
    if let device { return device }
    let host = HostName.current.prefix { $0 != "." }
    return "podcastfs-"
      + host.map { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) ? $0 : "-" }
  }

  /// Tells whether these are the settings that the server has refused.
  var digest: String {
    let text = [url, kind?.rawValue, user, password, passwordCommand].map { $0 ?? "" }.joined(separator: "\n")
    return UUIDv5.text(namespace: UUIDv5.url, name: Array(text.utf8))
  }

  /// The password, by its command where there is one.
  /// - Parameter seconds: for the command, which may ask the user.
  package func secret(within seconds: Double = 60) throws(SyncError) -> String? {
    guard let command = passwordCommand else { return password }
    let output: [UInt8]
    let status: Int32
    do {
      let pipe = try Pipe()
      let process = try ChildProcess.start(
        // One that does not end must not hold the synchronization up for good (timeout(1)).
        "/usr/bin/env", ["timeout", "\(seconds)", "/bin/sh", "-c", command],
        files: [nil, pipe.writer.rawValue, nil], isDetached: false)
      output = try pipe.takeReader().readToEnd(limit: 65_536)
      status = try ChildProcess.wait(process)
    } catch {
      throw SyncError("password_command cannot be run: \(error.errno)")
    }
    let line = String(decoding: output.prefix { $0 != 10 && $0 != 13 }, as: UTF8.self)
    // timeout(1)
    if status == 124 { throw SyncError("password_command does not end within \(Int(seconds)) seconds") }
    guard status == 0, !line.isEmpty else {
      throw SyncError("password_command gives no password (status \(status))")
    }
    return line
  }
}

private enum HostName {
  static var current: String {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "localhost" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
