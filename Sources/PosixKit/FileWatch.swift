internal import CLinux
internal import Glibc

/// Hears of changes to files and directories (inotify(7)).
package final class FileWatch {
  private let file: FileDescriptor

  /// What to hear of.
  package enum Interest: Sendable {
    /// Entries of a directory that vanish or that others take the place of, and the directory itself.
    case vanishing
    /// A file that is written to, or loses its name.
    case writing
  }

  package struct Event: Hashable, Sendable {
    /// As `add` answered.
    package var watch: Int32
    /// The entry's name in a watched directory.
    package var name: String?
    /// What is watched is there no more.
    package var isGone: Bool
    /// Events were lost: anything may have changed.
    package var isOverflow: Bool
  }

  package init() throws(PosixError) {
    file = FileDescriptor(
      owning: try retrying("watch files") { inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK)) })
  }

  /// To be polled for POLLIN.
  package var descriptor: Int32 { file.rawValue }

  /// Watches `path`, which must be there.
  package func add(_ path: String, _ interest: Interest) -> Int32? {
    let own = IN_DELETE_SELF | IN_MOVE_SELF
    let mask =
      interest == .vanishing ? own | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO : own | IN_MODIFY | IN_ATTRIB
    let watch = inotify_add_watch(file.rawValue, path, UInt32(mask))
    return watch < 0 ? nil : watch
  }

  /// What has happened.
  package func events() -> [Event] {
    var events: [Event] = []
    withUnsafeTemporaryAllocation(byteCount: 16384, alignment: 8) { buffer in
      while true {
        let count = read(file.rawValue, buffer.baseAddress, buffer.count)
        if count <= 0 { break }
        var offset = 0
        while offset + 16 <= count {
          let watch = buffer.loadUnaligned(fromByteOffset: offset, as: Int32.self)
          let mask = buffer.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
          let length = Int(buffer.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
          let name = buffer[(offset + 16)..<(offset + 16 + length)].prefix { $0 != 0 }
          events.append(
            Event(
              watch: watch, name: name.isEmpty ? nil : String(decoding: name, as: UTF8.self),
              isGone: mask & UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT) != 0,
              isOverflow: mask & UInt32(IN_Q_OVERFLOW) != 0))
          offset += 16 + length
        }
      }
    }
    return events
  }
}
