internal import EpisodeCache
internal import PodcastModel
internal import PosixKit

/// Puts a response's bytes into a generation: compares what is stored already, writes what is not.
struct Sink: Sendable {
  let writer: EpisodeWriter
  private(set) var position: Int64
  /// Bytes that must still agree with stored ones before any may be written.
  private var agreeing: Int64
  /// Whether to end where the next bytes are stored, because another request can skip them.
  private let mayStop: Bool

  /// Bytes written after which the journal should follow.
  static let synchronizeAfter: Int64 = 4 << 20
  /// Stored bytes up to this many are read through, not skipped by a new request.
  static let island: Int64 = RequestPlanner.nearby / 8

  init(_ writer: EpisodeWriter, at position: Int64, agreeing: Int64, mayStop: Bool) {
    self.writer = writer
    self.position = position
    self.agreeing = agreeing
    self.mayStop = mayStop
  }

  /// Takes a piece of the body; tells what the engine should hear.
  mutating func take(_ body: UnsafeRawBufferPointer) -> Flow.Event? {
    var hasCome = false
    let wasAgreeing = agreeing > 0
    var rest = body
    while !rest.isEmpty {
      let stored = writer.stored(from: position)
      do throws(PosixError) {
        if let stored, stored.lowerBound <= position {
          if agreeing <= 0 && isEnough(stored) { return .reachedStored }
          let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(Int(stored.upperBound - position)))
          guard try writer.agreement(of: piece, at: position) == piece.count else { return .differs }
          agreeing -= Int64(piece.count)
          advance(&rest, by: piece.count)
        } else {
          if agreeing > 0 { return .differs }
          let room = stored.map { Int(clamping: $0.lowerBound - position) } ?? rest.count
          let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(room))
          if try writer.write(piece, at: position) { hasCome = true }
          advance(&rest, by: piece.count)
        }
      } catch {
        return .disk(error)
      }
    }
    if wasAgreeing && agreeing <= 0 { return .agreed }
    if hasCome { return .came }
    return writer.claimSynchronization(after: Self.synchronizeAfter) ? .unsynchronized : nil
  }

  /// Whether nothing of use comes before the end of a stored run, and asking behind it is worth it.
  private func isEnough(_ stored: Range<Int64>) -> Bool {
    if stored.upperBound == writer.representation.total { return true }
    return mayStop && stored.upperBound - position > Self.island
  }

  private mutating func advance(_ rest: inout UnsafeRawBufferPointer, by count: Int) {
    position += Int64(count)
    rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
  }
}
