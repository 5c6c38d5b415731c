import PodcastModel
import Testing
import TransferProtocol

/// Of a record and what a journal says of it the newer one holds.
@Suite struct NoteAgeTests {
  private func record(_ state: TransferState, kept: Bool = false, revision: Int64) -> TransferRecord {
    let url = "http://h.test/a.mp3"
    var record = TransferRecord(
      request: TransferRequest(
        key: MediaKey(address: WebAddress(url)), url: url, title: "T", show: "S", fileName: "a.mp3"))
    (record.state, record.isKept, record.revision) = (state, kept, revision)
    return record
  }

  @Test func aNoteKeepsItsNumber() throws {
    let record = record(.paused, kept: true, revision: 1_700_000_000_000)
    let noted = try #require(TransferRecord(key: record.key, note: record.note))
    #expect(noted == record)
    // Those of versions before have none, and are older than any.
    let old = try #require(TransferRecord(key: record.key, note: Array(record.note.dropLast(8))))
    #expect(old.revision == 0 && old.hasSameNote(as: record))
    var known = record
    #expect(known.take(old) == .older && known == record)
  }

  @Test func theNewerWordHolds() {
    var known = record(.downloading, revision: 5)
    #expect(known.take(record(.paused, kept: true, revision: 6)) == .newer)
    #expect(known.state == .paused && known.isKept && known.revision == 6)
    #expect(known.take(record(.queued, revision: 6)) == .same && known.state == .paused && known.isKept)
    #expect(known.take(record(.queued, revision: 5)) == .older && known.state == .paused && known.isKept)
  }

  /// What is wished is as it was: only that has moved of which the note tells.
  @Test(arguments: [TransferState.failed, .cached, .remote]) func whatIsNotWishedStaysAsItIs(
    _ state: TransferState
  ) {
    var known = record(state, revision: 5)
    known.error = state == .failed ? "404" : nil
    let error = known.error
    #expect(known.take(record(.remote, kept: true, revision: 6)) == .newer)
    #expect(known.state == state && known.error == error && known.isKept)
    #expect(known.take(record(.queued, kept: true, revision: 7)) == .newer)
    #expect(known.state == .queued && known.error == nil)
  }
}
