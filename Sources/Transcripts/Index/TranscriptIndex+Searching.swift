internal import Glibc
package import PodcastModel
internal import PosixKit
internal import SQLiteKit

extension TranscriptIndex {
  /// Half minutes that have all words of a phrase and whose text is read for it. Beyond that, older transcripts are not
  /// looked at: what bounds the work is a count, so that the same words give the same answer however busy the machine is.
  private static let mostRead = 3000

  /// The episodes whose transcripts match; the transcript that came last is the first.
  package func search(_ query: TranscriptQuery, limit: Int) throws -> [MediaKey] {
    try connection.withLock { connection in
      let database = connection.database
      var keys: [MediaKey] = []
      // The transcript that the last row was of.
      var open: OpenTranscript?
      var left = Self.mostRead
      var failure: (any Error)?
      try database.forEach(
        "SELECT rowid FROM segment_text WHERE segment_text MATCH ? ORDER BY rowid DESC", query.expression
      ) { row in
        let number = row.int64(0)
        if open?.has(number) != true {
          do { open = try Self.row(ofSegment: number, in: database).map { OpenTranscript($0) } } catch {
            failure = error
            return false
          }
        }
        guard let known = open?.known, open?.isSettled == false else { return true }
        if query.needsText {
          left -= 1
          let isMatch = open?.matches(query, in: Int(number - known.first), of: path(of: known.file))
          if isMatch != true { return left > 0 }
        }
        open?.isSettled = true
        keys.append(known.file.key)
        return keys.count < limit && left > 0
      }
      if let failure { throw failure }
      return keys
    }
  }

  /// Where an episode's transcript matches, in its order; empty where it is not here.
  package func hits(of key: MediaKey, _ query: TranscriptQuery) throws -> [TranscriptHit] {
    guard let known = try connection.withLock({ try Self.row(of: key, in: $0.database) }),
      let bytes = try? Directories.readRegular(path(of: known.file))
    else { return [] }
    return Segments(known.format.cues(bytes)).hits(query)
  }
}

/// A transcript while rows of its segments come.
private struct OpenTranscript {
  let known: TranscriptIndex.Known
  /// Whether it matches: its further segments need no look.
  var isSettled = false
  /// Of a format that is read as a whole.
  private var whole: Segments?
  private var places: [Int] = []

  init(_ known: TranscriptIndex.Known) { self.known = known }

  func has(_ number: Int64) -> Bool { number >= known.first && number < known.first + known.segments }

  /// Whether a segment's text matches.
  mutating func matches(_ query: TranscriptQuery, in segment: Int, of path: String) -> Bool {
    if known.format.hasPlaces {
      if places.isEmpty { places = SegmentPlaces.read(known.places) + [Int(known.state.size)] }
      guard segment + 1 < places.count else { return false }
      // As many of those behind it as a phrase may reach into: most are long enough.
      var last = segment + 1
      while last < min(segment + Segments.following, places.count - 1),
        places[last] < places[segment + 1] + 1000
      {
        last += 1
      }
      let end = places[min(last, places.count - 1)]
      let cues = known.format.cues(Self.read(path, places[segment]..<max(end, places[segment])))
      let count = cues.count { $0.place < places[segment + 1] - places[segment] }
      return query.matches(cues[...], count: count)
    }
    if whole == nil { whole = Segments(known.format.cues((try? Directories.readRegular(path)) ?? [])) }
    guard let whole, segment < whole.count else { return false }
    return query.matches(whole.cuesAndFollowing(segment), count: whole.cues(of: segment).count)
  }

  /// A part of a file; empty where it cannot be read.
  private static func read(_ path: String, _ range: Range<Int>) -> [UInt8] {
    guard let file = try? FileDescriptor(openingRegular: path, O_RDONLY) else { return [] }
    return [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
      count =
        (try? preadFully(
          file.rawValue, into: UnsafeMutableRawBufferPointer(buffer), at: Int64(range.lowerBound))) ?? 0
    }
  }
}
