internal import PosixKit

/// A file that is being copied: a list, backup or link file to `Subscriptions/`, or a transcript beside its episode. It is
/// taken in at close, and can be opened, read and written again as long as its name stays.
final class Upload: OpenFile {
  private struct State {
    var name: String?
    var bytes: [UInt8] = []
    var isDirty = false
    var isTooLarge = false
    var isRefused = false
    var handles = 0
    var modified = FileTime.now
    /// Of the last that had it open.
    var closed: MonotonicTime?
  }
  /// In bytes, of a list of subscriptions or a backup.
  static let longestList = 192 << 20
  /// How long its name stays after the last close, in seconds: programs look at what they have copied.
  static let lifetime = 10.0

  let node: NodeID
  /// What a transcript is listed as, from the first moment on; nil for all other files.
  let sidecar: Sidecar?
  /// In bytes; what is longer is refused with EFBIG.
  private let limit: Int
  private let state: Monitor<State>
  private let importer: @Sendable ([UInt8]) -> Answer<Void>
  private let onIdle: @Sendable (Upload) -> Void

  /// - Parameters:
  ///   - importer: takes the bytes in.
  ///   - onIdle: called when the last that had it open has closed it.
  init(
    node: NodeID, name: String?, bytes: [UInt8] = [], sidecar: Sidecar? = nil,
    limit: Int = Upload.longestList,
    importer: @escaping @Sendable ([UInt8]) -> Answer<Void>,
    onIdle: @escaping @Sendable (Upload) -> Void
  ) {
    (self.node, self.sidecar, self.limit) = (node, sidecar, limit)
    state = Monitor(State(name: name, bytes: bytes))
    self.importer = importer
    self.onIdle = onIdle
  }

  /// In `Subscriptions/`; nil for a transcript, and for a write to `subscriptions.opml` itself.
  var name: String? {
    get { state.withLock { $0.name } }
    set { state.withLock { $0.name = newValue } }
  }
  var isDirect: Bool { true }
  var keepsCache: Bool { false }
  var size: Int64? { Int64(state.withLock { $0.bytes.count }) }
  var attributes: NodeAttributes {
    let modified = state.withLock { $0.modified }
    var attributes = NodeAttributes(
      node: node, permissions: sidecar == nil ? 0o600 : 0o644, size: size ?? 0, modified: modified)
    attributes.timeout = 0
    return attributes
  }
  var isOpen: Bool { state.withLock { $0.handles > 0 } }
  /// It was neither a list nor a link: its name need not stay.
  var isRefused: Bool { state.withLock { $0.isRefused } }

  /// Whether its name is to go: ten seconds after the last close, at once where the file was refused.
  func isExpired(at time: MonotonicTime) -> Bool {
    state.withLock { state in
      guard state.handles == 0, let closed = state.closed else { return false }
      return state.isRefused || time.seconds(since: closed) >= Self.lifetime
    }
  }

  func open() -> any OpenFile {
    state.withLock { $0.handles += 1 }
    return self
  }

  func truncate(to size: Int64) -> Errno? {
    guard size >= 0, size <= limit else {
      state.withLock { $0.isTooLarge = true }
      return .EFBIG
    }
    state.withLock { state in
      // Written anew.
      if size == 0 { state.isTooLarge = false }
      if state.bytes.count > size { state.bytes.removeLast(state.bytes.count - Int(size)) }
      if state.bytes.count < size { state.bytes += repeatElement(0, count: Int(size) - state.bytes.count) }
      state.modified = .now
    }
    return nil
  }

  func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Result<Int, Errno>? {
    state.withLock { state in
      guard offset >= 0, offset < state.bytes.count else { return .success(0) }
      let part = state.bytes[Int(offset)...].prefix(buffer.count)
      buffer.copyBytes(from: part)
      return .success(part.count)
    }
  }

  func write(at offset: Int64, _ bytes: UnsafeRawBufferPointer) -> Result<Int, Errno> {
    guard offset >= 0, offset <= limit, offset + Int64(bytes.count) <= limit else {
      state.withLock { $0.isTooLarge = true }
      return .failure(.EFBIG)
    }
    let end = Int(offset) + bytes.count
    let copy = Array(bytes)
    state.withLock { state in
      if state.bytes.count < end { state.bytes += repeatElement(0, count: end - state.bytes.count) }
      state.bytes.replaceSubrange(Int(offset)..<end, with: copy)
      state.isDirty = true
      state.modified = .now
    }
    return .success(bytes.count)
  }

  func flush() -> Answer<Void> {
    let (bytes, isTooLarge) = state.withLock { state -> ([UInt8]?, Bool) in
      defer { state.isDirty = false }
      if state.isTooLarge { state.isRefused = true }
      return (state.isDirty ? state.bytes : nil, state.isTooLarge)
    }
    if isTooLarge { return .failure(.EFBIG) }
    guard let bytes else { return .value(()) }
    return importer(bytes).onEnd { result in
      if case .failure = result { self.state.withLock { $0.isRefused = true } }
    }
  }

  func close() {
    let isIdle = state.withLock { state in
      state.handles -= 1
      state.closed = .now
      return state.handles == 0
    }
    if isIdle { onIdle(self) }
  }
}
