internal import Glibc
package import PodcastModel
internal import PosixKit

/// A transcript that the user has put beside an episode.
package struct OwnTranscript: Hashable, Sendable {
  package enum Ending: String, CaseIterable, Sendable {
    case vtt = ".vtt"
    case srt = ".srt"
    case txt = ".txt"
  }

  /// The episode's enclosure.
  package let key: MediaKey
  package let ending: Ending
  /// In bytes.
  package let size: Int64
  /// In nanoseconds since 1970.
  package let changed: Int64

  package init(key: MediaKey, ending: Ending, size: Int64, changed: Int64) {
    self.key = key
    self.ending = ending
    self.size = size
    self.changed = changed
  }

  /// In the index.
  package var file: TranscriptFile { TranscriptFile(key: key, name: key.text + ending.rawValue, isOwn: true) }
}

/// The user's own transcripts: files in the data folder. They are named after the enclosures of their episodes, because
/// numbers of episodes do not outlive a lost catalogue.
package struct OwnTranscripts: Sendable {
  package let folder: String

  /// In bytes.
  package static let longest = 4 << 20

  /// - Parameter data: the folder of the catalogue.
  package init(data: String) { folder = data + "/transcripts" }

  package func all() -> [OwnTranscript] {
    ((try? Directories.names(in: folder)) ?? []).compactMap { name in
      let stem = String(name.prefix(32))
      guard let key = MediaKey(stem), let ending = OwnTranscript.Ending(rawValue: String(name.dropFirst(32)))
      else { return nil }
      return find(key, ending)
    }
  }

  package func all(of key: MediaKey) -> [OwnTranscript] {
    OwnTranscript.Ending.allCases.compactMap { find(key, $0) }
  }

  private func find(_ key: MediaKey, _ ending: OwnTranscript.Ending) -> OwnTranscript? {
    TranscriptIndex.FileState(of: path(key, ending)).map {
      OwnTranscript(key: key, ending: ending, size: $0.size, changed: $0.changed)
    }
  }

  package func read(_ key: MediaKey, _ ending: OwnTranscript.Ending) throws -> [UInt8] {
    try Directories.readRegular(path(key, ending))
  }

  package func store(_ bytes: [UInt8], _ key: MediaKey, _ ending: OwnTranscript.Ending) throws {
    try Directories.create(folder)
    try Directories.replace(path(key, ending), with: bytes)
  }

  package func remove(_ key: MediaKey, _ ending: OwnTranscript.Ending) throws {
    if unlink(path(key, ending)) != 0, Errno.current != .ENOENT {
      throw PosixError.last("remove", path(key, ending))
    }
  }

  /// Removes the transcripts of episodes, and all of their words from the index.
  /// - Parameter copies: the folder of the copies of feeds' ones.
  package func forget(_ keys: [MediaKey], copies: String) throws {
    for key in keys { for ending in OwnTranscript.Ending.allCases { try remove(key, ending) } }
    let data = String(folder.dropLast("/transcripts".count))
    let path = TranscriptIndex.path(data: data)
    guard Directories.exists(path) else { return }
    try TranscriptIndex(path: path, folders: .init(own: folder, copies: copies)).forget(keys)
  }

  private func path(_ key: MediaKey, _ ending: OwnTranscript.Ending) -> String {
    "\(folder)/\(key.text)\(ending.rawValue)"
  }
}
