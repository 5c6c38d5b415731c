internal import Configuration
internal import Glibc
internal import MountHandover
internal import PodcastModel
internal import PosixKit

/// A mount whose process has died again and again: it is taken away, and the user is told.
enum GivenUp {
  /// The word that the keeper calls the program with, before the words that it was to be called with.
  static let word = "--given-up"

  /// In that process, which has the mount's memory as descriptor 4.
  static func run(_ words: [String]) throws -> Int32 {
    guard let mountPoint = words.last, mountPoint.hasPrefix("/") else { return 64 }
    let memory = try? HandoverMemory(inherited: FileDescriptor(owning: 4))
    end(mountPoint, memory?.takeFault().map { " (\($0))" } ?? "", try Places())
    return 0
  }

  /// Takes the mount away, and tells the log, `doctor` and the desktop.
  /// - Parameter cause: what ended the last process; empty where nobody knows.
  private static func end(_ mountPoint: String, _ cause: String, _ places: Places) {
    let reason = "the mount on \(mountPoint) is given up: its process died again and again\(cause)"
    LogFile(places.logFile).write(reason)
    try? Directories.createPrivate(directory(places))
    try? Directories.replace(file(mountPoint, places), with: Array((mountPoint + "\n" + reason + "\n").utf8))
    if MountTable.isOurs(mountPoint) { try? Unmount.lazily(mountPoint) }
    if let program = Notifications.program {
      let arguments = [
        "--app-name=podcastfs", "--icon=dialog-warning", "--", "Podcasts are not mounted any more",
      ]
      guard let process = try? ChildProcess.start(program, arguments + [PrintableText.line(reason)]),
        let ending = ChildProcess.watch(process)
      else { return }
      // Where no desktop answers, it takes minutes to find that out: it may do so alone.
      var entry = pollfd(fd: ending.rawValue, events: Int16(POLLIN), revents: 0)
      poll(&entry, 1, noticePatience)
    }
  }

  /// Milliseconds.
  private static let noticePatience: Int32 = 2000

  /// What is to be said of mounts that were given up and have not been mounted since.
  static func all(places: Places) -> [(mountPoint: String, reason: String)] {
    let names = (try? Directories.names(in: directory(places))) ?? []
    return names.sorted().compactMap { name in
      guard let bytes = try? Directories.readRegular(directory(places) + "/" + name, limit: 1 << 16) else {
        return nil
      }
      let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
      return lines.count == 2 ? (String(lines[0]), String(lines[1])) : nil
    }
  }

  /// It is mounted again.
  static func forget(_ mountPoint: String, places: Places) { unlink(file(mountPoint, places)) }

  private static func directory(_ places: Places) -> String { places.state + "/given-up" }

  /// Named by a sum of the path: that may be longer than a name.
  private static func file(_ mountPoint: String, _ places: Places) -> String {
    var sum = CRC32C()
    Array(mountPoint.utf8).withUnsafeBytes { sum.update($0) }
    return directory(places) + "/" + String(sum.value, radix: 16)
  }
}
