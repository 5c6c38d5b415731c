internal import Catalog
internal import PosixKit

/// `cp FILE.opml Subscriptions/`.
extension PodcastTree {
  /// How long the name of a list that was copied here stays, in seconds: programs look at it after the copy.
  static let uploadLifetime = 10.0

  package func create(
    _ name: String, in parent: NodeID, for caller: Caller
  ) -> Answer<(attributes: NodeAttributes, file: any OpenFile)> {
    guard owner.admits(caller) else { return .failure(.EACCES) }
    guard parent == .subscriptions else { return .failure(.EROFS) }
    guard name.lowercased().hasSuffix(".opml"), name.utf8.count <= 255 else { return .failure(.EPERM) }
    if name == Self.subscriptionListName {
      return .value((controlFileAttributes(.subscriptionList), newUpload(named: nil).file))
    }
    if upload(named: name) != nil { return .failure(.EEXIST) }
    let (node, file) = newUpload(named: name)
    invalidate([.listing(.subscriptions)])
    return uploadAttributes(node).map { ($0, file) }
  }

  func newUpload(named name: String?) -> (node: NodeID, file: Upload) {
    let node = state.withLock { state in
      defer { state.nextUpload += 1 }
      return NodeID(.upload, state.nextUpload)
    }
    let file = Upload(node: node, name: name) { [weak self] bytes in
      guard let self else { return .failure(.EIO) }
      return .on(loader) {
        do { try self.importSubscriptions(bytes) } catch {
          self.state.withLock { $0.uploads[node.row] }?.refuse()
          throw error
        }
      }
    } onClose: { [weak self] upload in
      self?.expire(upload)
    }
    state.withLock { $0.uploads[node.row] = file }
    return (node, file)
  }

  private func importSubscriptions(_ bytes: [UInt8]) throws {
    let outcome = try catalog.importOPML(bytes)
    events.record(imported: outcome)
    try loadSubscriptions()
    invalidate([.listing(.subscriptions), .listing(.latest)])
  }

  private func expire(_ upload: Upload) {
    let lifetime = upload.name == nil || upload.isRefused ? 0 : Self.uploadLifetime
    let isKept = PosixThread.attempt("upload", stackSize: 65536) { [weak self] in
      let never = Monitor(())
      let _: Bool? = never.wait(until: .after(lifetime)) { _ in nil }
      self?.forget(upload)
    }
    if !isKept { forget(upload) }
  }

  private func forget(_ upload: Upload) {
    state.withLock { _ = $0.uploads.removeValue(forKey: upload.node.row) }
    if let name = upload.name {
      invalidate([.name(name, in: .subscriptions), .listing(.subscriptions)])
    }
  }

  func upload(named name: String) -> NodeID? {
    state.withLock { $0.uploads.values.first { $0.name == name }?.node }
  }

  func uploadAttributes(_ node: NodeID) -> Answer<NodeAttributes> {
    guard let upload = state.withLock({ $0.uploads[node.row] }) else { return .failure(.ENOENT) }
    return .value(attributes(of: upload))
  }

  private func attributes(of upload: Upload) -> NodeAttributes {
    var attributes = NodeAttributes(node: upload.node, isDirectory: false, permissions: 0o600)
    attributes.size = upload.size ?? 0
    attributes.stored = attributes.size
    attributes.modified = wallClockSeconds()
    attributes.changed = attributes.modified
    attributes.timeout = 0
    return attributes
  }

  func uploadItems() -> [DirectoryItem] {
    state.withLock { $0.uploads.values.filter { $0.name != nil } }.map {
      DirectoryItem(name: $0.name ?? "", attributes: attributes(of: $0))
    }
  }
}
