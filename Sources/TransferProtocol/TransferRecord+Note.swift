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
    // Versions before this one did not look so far.
    writer.put(revision)
    return Array(writer.frame.dropFirst(4))
  }

  /// Whether both have the same note.
  package func hasSameNote(as other: TransferRecord) -> Bool {
    isKept == other.isKept && wish == other.wish && request == other.request
  }

  /// What notes are the same by, without the texts: for thousands of records.
  package var noteHash: Int {
    var hasher = Hasher()
    hasher.combine(isKept)
    hasher.combine(wish)
    hasher.combine(request)
    return hasher.finalize()
  }

  /// Takes over what a journal says was ordered, where that is the newer word. The state is then no more than what is
  /// wished: what is here, nobody has looked at.
  /// - Returns: how the journal's word was to the record's.
  package mutating func take(_ noted: TransferRecord) -> NoteAge {
    if noted.revision < revision { return .older }
    if noted.revision == revision { return .same }
    (revision, request, isKept) = (noted.revision, noted.request, noted.isKept)
    if noted.wish != wish {
      state = noted.wish
      attempts = 0
      forgive()
    }
    return .newer
  }

  package enum NoteAge: Sendable { case older, same, newer }

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
      if let revision: Int64 = try? reader.integer() { self.revision = Self.bounded(revision) }
    } catch {
      return nil
    }
  }
}
