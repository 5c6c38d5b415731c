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

  package func index() throws -> TranscriptIndex {
    try opened.withLock { opened in
      let index = try opened ?? TranscriptIndex(path: path, folders: folders)
      opened = index
      return index
    }
  }
}
