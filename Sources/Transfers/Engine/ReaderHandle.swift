internal import PosixKit
internal import TransferProtocol

/// An open episode of a client.
final class ReaderHandle {
  let id: UInt64
  /// Whose it is.
  let client: ObjectIdentifier
  let intent: OpenIntent
  /// Whether a read has come (which makes `downloadAtRead` download).
  var hasRead = false
  /// nil until it has one.
  var generation: UInt32?
  /// Whether the client still waits for the answer to its open.
  var isOpening = true
  /// When it was opened, and whether it is looked at again if it takes long.
  let begun = MonotonicTime.now
  var hasDeadline = false
  /// What it waits for, by the client's numbers.
  var waits: [UInt64: Range<Int64>] = [:]

  init(id: UInt64, client: ObjectIdentifier, intent: OpenIntent, generation: UInt32?) {
    self.id = id
    self.client = client
    self.intent = intent
    self.generation = generation
  }

  var mayDownload: Bool { intent == .download || (intent == .downloadAtRead && hasRead) }

  /// Whether its bytes are those that come now.
  func isCurrent(_ current: UInt32) -> Bool { generation == nil || generation == current }
}
