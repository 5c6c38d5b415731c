internal import PodcastModel
internal import TransferProtocol

/// An open episode of a client.
final class ReaderHandle {
  let name: HandleName
  let key: MediaKey
  let intent: OpenIntent
  /// Whether a read has come (which makes `downloadAtRead` download).
  var hasRead = false
  /// nil until it has one.
  var generation: UInt32?
  /// Whether the client still waits for the answer to its open.
  var isOpening = true
  let begun: Instant
  struct Wait {
    let range: Range<Int64>
    /// Grows from wait to wait, of whatever client.
    let number: UInt64
    let begun: Instant
  }
  /// What it waits for, by the client's numbers.
  var waits: [UInt64: Wait] = [:]

  init(_ name: HandleName, of key: MediaKey, _ intent: OpenIntent, generation: UInt32?, begun: Instant) {
    self.name = name
    self.key = key
    self.intent = intent
    self.generation = generation
    self.begun = begun
  }

  var mayDownload: Bool { intent == .download || (intent == .downloadAtRead && hasRead) }

  /// Whether its bytes are those that come now.
  func isCurrent(_ current: UInt32) -> Bool { generation == nil || generation == current }
}
