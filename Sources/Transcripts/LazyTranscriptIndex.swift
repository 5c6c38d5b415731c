internal import PosixKit

/// The index of a user's transcripts, opened when it is first needed.
package final class LazyTranscriptIndex: Sendable {
  private let opened = Monitor<TranscriptIndex?>(nil)
  private let path: String
  private let folders: TranscriptIndex.Folders

  /// - Parameters:
  ///   - data: the folder of the catalogue.
  ///   - copies: the folder of the copies of feeds' transcripts.
  package init(data: String, copies: String) {
    path = TranscriptIndex.path(data: data)
    folders = TranscriptIndex.Folders(own: OwnTranscripts(data: data).folder, copies: copies)
  }

  /// Nil where it cannot be opened: what was said is not found then.
  package func index() -> TranscriptIndex? {
    opened.withLock { index in
      if index == nil { index = try? TranscriptIndex(path: path, folders: folders) }
      return index
    }
  }
}
