internal import Catalog
internal import Configuration
internal import Glibc
internal import PodcastModel
internal import PosixKit

/// A file that is being copied: a list, backup or link file to `Subscriptions/`, or a transcript beside its episode. It is
/// taken in at close, and can be opened, read and written again as long as its name stays.
final class Upload: OpenFile {
  private struct State {
    var name: String?
    var isDirty = false
    var isTooLarge = false
    var handles = 0
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
  private let file: FileDescriptor
  private let state: Monitor<State>
  private let importer: @Sendable ([UInt8]) -> Answer<Void>
  private let onIdle: @Sendable (Upload) -> Void

  /// - Parameters:
  ///   - bytes: the file's bytes before; nil for a new file. A new file that stays empty fails at close.
  ///   - importer: stores all bytes at close. Its failure is that of the close.
  ///   - onIdle: called when the last program that had the file open has closed it.
  init(
    node: NodeID, name: String?, bytes: [UInt8]? = nil, sidecar: Sidecar? = nil,
    limit: Int = Upload.longestList,
    importer: @escaping @Sendable ([UInt8]) -> Answer<Void>,
    onIdle: @escaping @Sendable (Upload) -> Void
  ) throws(PosixError) {
    (self.node, self.sidecar, self.limit) = (node, sidecar, limit)
    (self.importer, self.onIdle) = (importer, onIdle)
    file = try FileDescriptor.inMemory("upload")
    try file.write(bytes ?? [], at: 0)
    state = Monitor(State(name: name, isDirty: bytes == nil))
  }

  /// In `Subscriptions/`; nil for a transcript, and for a write to `subscriptions.opml` itself.
  var name: String? {
    get { state.withLock { $0.name } }
    set { state.withLock { $0.name = newValue } }
  }
  var size: Int64? { (try? file.status()).map { Int64($0.st_size) } }
  var attributes: NodeAttributes {
    let time = (try? file.status())?.st_mtim ?? timespec()
    var attributes = NodeAttributes(
      node: node, permissions: sidecar == nil ? 0o600 : 0o644, size: size ?? 0,
      modified: FileTime(Int64(time.tv_sec), nanoseconds: Int32(time.tv_nsec)))
    attributes.timeout = 0
    return attributes
  }
  var isOpen: Bool { state.withLock { $0.handles > 0 } }

  func isExpired(at time: MonotonicTime) -> Bool {
    state.withLock { state in
      guard state.handles == 0, let closed = state.closed else { return false }
      return time.seconds(since: closed) >= Self.lifetime
    }
  }

  func open() -> any OpenFile {
    state.withLock { $0.handles += 1 }
    return self
  }

  func truncate(to size: Int64) -> Errno? {
    let change: Result<Void, Errno> = changing(upTo: size, 0) { () throws(PosixError) in
      try file.truncate(to: size)
      if size == 0 { state.withLock { $0.isTooLarge = false } }
    }
    return if case .failure(let errno) = change { errno } else { nil }
  }

  /// A program has opened it with O_TRUNC. It may close the list of subscriptions empty: shells do so for `>`.
  func empty() {
    if truncate(to: 0) == nil, node == .subscriptionList { state.withLock { $0.isDirty = false } }
  }

  func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Result<Int, Errno>? {
    Result { () throws(PosixError) in try file.read(into: buffer, at: offset) }.mapError(\.errno)
  }

  func write(at offset: Int64, _ bytes: UnsafeRawBufferPointer) -> Result<Int, Errno> {
    changing(upTo: offset, bytes.count) { () throws(PosixError) in try file.write(bytes, at: offset) }
      .map { bytes.count }
  }

  private func changing(
    upTo offset: Int64, _ count: Int, _ change: () throws(PosixError) -> Void
  ) -> Result<Void, Errno> {
    guard offset >= 0, offset <= limit - count else {
      state.withLock { $0.isTooLarge = true }
      return .failure(.EFBIG)
    }
    state.withLock { $0.isDirty = true }
    return Result(catching: change).mapError(\.errno)
  }

  func flush() -> Answer<Void> {
    let (isDirty, isTooLarge) = state.withLock { state in
      defer { state.isDirty = false }
      return (state.isDirty, state.isTooLarge)
    }
    if isTooLarge { return .failure(.EFBIG) }
    if !isDirty { return .value(()) }
    do {
      let size = Int(try file.status().st_size)
      return importer(
        try [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
          count = try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
        })
    } catch { return .failure(error.errnoForReader) }
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

/// A list of subscriptions, a backup or a link file that is being copied to `Subscriptions/`, and for a while after.
struct UploadNode: TreeNode {
  let tree: PodcastTree
  let id: NodeID
  private var upload: Upload? { tree.state.withLock { $0.uploads[id] } }
  func attributes() -> Answer<NodeAttributes> { upload.map { .value($0.attributes) } ?? .failure(.ENOENT) }

  func open(writes: Bool, for caller: Caller) -> Answer<any OpenFile> {
    guard tree.owner.admits(caller) else { return .failure(.EACCES) }
    return upload.map { .value($0.open()) } ?? .failure(.ENOENT)
  }
}

extension PodcastTree {
  func createUpload(_ name: String) -> Answer<CreatedFile> {
    .on(loader) {
      let upload = try self.state.withLock { state in
        let id = NodeID(.upload, state.nextUpload)
        state.nextUpload += 1
        let upload = try Upload(node: id, name: name) { [weak self] bytes in
          self?.importFile(bytes, name) ?? .failure(.EIO)
        } onIdle: { [weak self] upload in
          self?.expire(upload)
        }
        state.uploads[id] = upload
        return upload
      }
      self.uploadsChanged()
      return (upload.attributes, upload.open())
    }
  }

  func writtenList() throws -> any OpenFile {
    try state.withLock { state in
      if let known = state.uploads[.subscriptionList] { return known.open() }
      let upload = try Upload(node: .subscriptionList, name: nil, bytes: []) { [weak self] bytes in
        self?.importFile(bytes, Self.listName) ?? .failure(.EIO)
      } onIdle: { [weak self] upload in
        self?.state.withLock { if !upload.isOpen { $0.uploads[.subscriptionList] = nil } }
      }
      state.uploads[.subscriptionList] = upload
      return upload.open()
    }
  }

  private func importFile(_ bytes: [UInt8], _ name: String) -> Answer<Void> {
    let log: @Sendable (String) -> Void = { [path = places.logFile] problem in
      LogFile(path).write("\(name), copied to Subscriptions: \(problem)")
    }
    return commit { () -> String? in
      let outcome: OPMLImport
      do { outcome = try self.catalog.importOPML(bytes) } catch {
        log("\(error)")
        throw error
      }
      if outcome.link != nil { return outcome.link }
      self.events.record(imported: outcome)
      for search in outcome.searches {
        _ = self.catalog.search(search, replacing: nil) { result in
          if case .failure(let error) = result { log("cannot search for \(search): \(error)") }
        }
      }
      for problem in outcome.problems.prefix(EventLog.problemLimit) { log(problem) }
      // `subscriptions.opml` may be empty.
      let mayBeEmpty = name == Self.listName && outcome.refused == 0
      if outcome.added + outcome.known == 0, !mayBeEmpty {
        log("it names no feed that can be followed")
        throw Errno.EINVAL
      }
      return nil
    }.then { link in link.map { self.follow(link: $0) } ?? .value(()) }
  }

  /// Subscribes to the feed or the page that a link file names. The user who copies the file chose the address, as one
  /// who types it. The catalogue writes to the log why it fails.
  private func follow(link: String) -> Answer<Void> {
    Answer<Bool>.task { completion in
      self.catalog.subscribe(address: link, name: nil, isTyped: true) { result in
        // The host's answer says that there is no feed.
        let useless: [Errno] = [.ENOENT, .EACCES, .EPROTO]
        completion(
          result.map { _ in true }.flatMapError { error -> Result<Bool, Errno> in
            if error.errno == .EEXIST { return .success(false) }
            return .failure(useless.contains(error.errno) ? .EINVAL : error.errnoForReader)
          })
      }
    }.then { isNew in
      self.commit {
        self.events.record(imported: OPMLImport(added: isNew ? 1 : 0, known: isNew ? 0 : 1, problems: []))
      }
    }
  }

  private func expire(_ upload: Upload) {
    loader.async(after: Upload.lifetime) { [weak self] in
      // Somebody may have opened it meanwhile: the name goes after the last close.
      if upload.isExpired(at: .now) { self?.forget(upload.node) }
    }
  }

  func renameUpload(_ id: NodeID, to name: String) -> Answer<Void> {
    .on(loader) {
      guard let upload = self.state.withLock({ $0.uploads[id] }) else { throw Errno.ENOENT }
      upload.name = name
      self.uploadsChanged()
    }
  }

  func removeUpload(_ id: NodeID) -> Answer<Void> { .on(loader) { self.forget(id) } }

  private func forget(_ id: NodeID) {
    if state.withLock({ $0.uploads.removeValue(forKey: id) }) != nil { uploadsChanged() }
  }

  /// Notes the time of the change; where that fails, the directory keeps its time. On the loader's thread.
  private func uploadsChanged() {
    try? catalog.noteUpload()
    try? readSubscriptions()
  }
}
