package import PodcastModel

// What a generation's journal keeps of its record: enough to go on where the store is lost.
extension TransferRecord {
  private static let noteVersion: UInt8 = 1

  /// The state, as far as it is somebody's wish: what runs is what was wanted.
  private var wish: TransferState {
    switch state {
    case .queued, .downloading: .queued
    case .paused: waitsForRoom ? .queued : .paused
    case .remote, .failed, .cached: .remote
    }
  }

  package var note: [UInt8] {
    var writer = FrameWriter()
    writer.put(Self.noteVersion)
    writer.put(wish.rawValue)
    writer.put(isKept)
    request.encode(into: &writer)
    return Array(writer.frame.dropFirst(4))
  }

  /// Whether both have the same note.
  package func hasSameNote(as other: TransferRecord) -> Bool {
    isKept == other.isKept && wish == other.wish && request == other.request
  }

  /// - Returns: nil where `note` is not one, or another episode's.
  package init?(key: MediaKey, note: [UInt8]) {
    var reader = FrameReader(note[...])
    do throws(FrameError) {
      guard try reader.uint8() == Self.noteVersion, let state = TransferState(rawValue: try reader.uint8())
      else { return nil }
      let isKept = try reader.bool()
      self.init(request: try TransferRequest(from: &reader))
      guard self.key == key else { return nil }
      self.state = state
      self.isKept = isKept
    } catch {
      return nil
    }
  }
}
