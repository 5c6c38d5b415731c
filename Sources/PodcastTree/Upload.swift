internal import PosixKit

/// An OPML file that is being copied to `Subscriptions/`: its feeds are subscribed to at close.
final class Upload: OpenFile {
  private struct State {
    var bytes: [UInt8] = []
    var isDirty = false
    var isRefused = false
  }
  /// Longer lists are refused with EFBIG.
  static let limit = 16 << 20

  let node: NodeID
  /// nil where it was opened by the subscription list's own name.
  let name: String?
  private let state = Monitor(State())
  private let importer: @Sendable ([UInt8]) -> Answer<Void>
  private let onClose: @Sendable (Upload) -> Void

  init(
    node: NodeID, name: String?, importer: @escaping @Sendable ([UInt8]) -> Answer<Void>,
    onClose: @escaping @Sendable (Upload) -> Void
  ) {
    self.node = node
    self.name = name
    self.importer = importer
    self.onClose = onClose
  }

  var isDirect: Bool { true }
  var keepsCache: Bool { false }
  var size: Int64? { Int64(state.withLock { $0.bytes.count }) }

  func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Result<Int, Errno>? {
    state.withLock { state in
      guard offset >= 0, offset < state.bytes.count else { return .success(0) }
      let part = state.bytes[Int(offset)...].prefix(buffer.count)
      buffer.copyBytes(from: part)
      return .success(part.count)
    }
  }

  func write(at offset: Int64, _ bytes: UnsafeRawBufferPointer) -> Result<Int, Errno> {
    guard offset >= 0, offset + Int64(bytes.count) <= Self.limit else { return .failure(.EFBIG) }
    let end = Int(offset) + bytes.count
    let copy = Array(bytes)
    state.withLock { state in
      if state.bytes.count < end { state.bytes += repeatElement(0, count: end - state.bytes.count) }
      state.bytes.replaceSubrange(Int(offset)..<end, with: copy)
      state.isDirty = true
    }
    return .success(bytes.count)
  }

  /// ftruncate(2).
  func truncate(to size: Int64) -> Errno? {
    guard size >= 0, size <= Self.limit else { return .EFBIG }
    state.withLock { state in
      if state.bytes.count > size { state.bytes.removeLast(state.bytes.count - Int(size)) }
      if state.bytes.count < size { state.bytes += repeatElement(0, count: Int(size) - state.bytes.count) }
    }
    return nil
  }

  func flush() -> Answer<Void> {
    let bytes = state.withLock { state -> [UInt8]? in
      defer { state.isDirty = false }
      return state.isDirty ? state.bytes : nil
    }
    return bytes.map(importer) ?? .value(())
  }

  /// It was no list: its name need not stay.
  func refuse() { state.withLock { $0.isRefused = true } }
  var isRefused: Bool { state.withLock { $0.isRefused } }

  func close() { onClose(self) }
}
