internal import Catalog
internal import Configuration
internal import PodcastModel
internal import PosixKit

/// A list of subscriptions or a link file that is being copied to `Subscriptions/`, and for a while after.
struct UploadNode: TreeNode {
  let tree: PodcastTree
  let id: NodeID

  func attributes() -> Answer<NodeAttributes> {
    let found = tree.world.withLock { world in
      world.uploads[id.row].map { _ in tree.uploadAttributes(id, world) }
    }
    return found.map { .value($0) } ?? .failure(.ENOENT)
  }

  func open(writes: Bool, for caller: Caller) -> Answer<any OpenFile> {
    guard tree.owner.admits(caller) else { return .failure(.EACCES) }
    guard let upload = tree.world.withLock({ $0.uploads[id.row] }) else { return .failure(.ENOENT) }
    return .value(upload.open())
  }

  func change(size: Int64?, onlyTimes: Bool) -> Answer<NodeAttributes> {
    if let size, let errno = tree.world.withLock({ $0.uploads[id.row] })?.truncate(to: size) {
      return .failure(errno)
    }
    return attributes()
  }
}

extension PodcastTree {
  func uploadAttributes(_ id: NodeID, _ world: World) -> NodeAttributes {
    var attributes = NodeAttributes(node: id, isDirectory: false, permissions: 0o600)
    let upload = world.uploads[id.row]
    attributes.size = upload?.size ?? 0
    attributes.stored = attributes.size
    attributes.modified = upload?.modified ?? started
    attributes.changed = attributes.modified
    attributes.timeout = 0
    return attributes
  }

  /// A list under a name of its own: in the directory until it goes.
  func createUpload(_ name: String) -> Answer<(attributes: NodeAttributes, file: any OpenFile)> {
    .on(loader) {
      self.noteUpload()
      let (upload, difference) = self.world.withLock { world -> (Upload, Difference) in
        let id = NodeID(.upload, world.nextUpload)
        world.nextUpload += 1
        let upload = Upload(node: id, name: name) { [weak self] bytes in
          self?.importFile(bytes, name, removing: nil) ?? .failure(.EIO)
        } onIdle: { [weak self] upload in
          self?.expire(upload)
        }
        world.uploads[id.row] = upload
        let target = Target.node(id)
        var difference = self.set([(name, target)], in: .subscriptions, &world)
        // The kernel knows the name: it is making it.
        difference.names = []
        difference.attributes.append(.subscriptions)
        return (upload, difference)
      }
      self.tell(difference)
      let file = upload.open()
      return (self.world.withLock { self.uploadAttributes(upload.node, $0) }, file)
    }
  }

  /// A write to `subscriptions.opml` itself. A program that has read the list before is an editor: it expects a line that
  /// it leaves out to go. Only `rmdir` unfollows, so that its close fails.
  func writtenList(by program: Program?) -> any OpenFile {
    let isEditor = program.map { listReaders.contains($0) } ?? false
    let upload = Upload(node: .subscriptionList, name: nil) { [weak self] bytes in
      self?.importFile(bytes, SubscriptionsFolder.listName, removing: isEditor ? .refused : nil)
        ?? .failure(.EIO)
    } onIdle: { _ in
    }
    return upload.open()
  }

  private enum Removal { case refused }

  /// Subscribes to the feeds of a list, or to the feed or page that a link file names. What cannot be used is written to
  /// the log.
  private func importFile(_ bytes: [UInt8], _ name: String, removing removal: Removal?) -> Answer<Void> {
    commit { () -> String? in
      if removal == .refused { try self.refuseRemovals(bytes) }
      let outcome: OPMLImport
      do { outcome = try self.catalog.importOPML(bytes) } catch {
        self.logUpload(name, "\(error)")
        throw error
      }
      if outcome.link != nil { return outcome.link }
      self.events.record(imported: outcome)
      for problem in outcome.problems.prefix(EventLog.problemLimit) { self.logUpload(name, problem) }
      if outcome.added + outcome.known == 0, outcome.refused > 0 { throw Errno.EINVAL }
      return nil
    }.then { link in link.map { self.follow(link: $0) } ?? .value(()) }
  }

  private func logUpload(_ name: String, _ problem: String) {
    LogFile(places.logFile).write("\(name), copied to Subscriptions: \(problem)")
  }

  /// Subscribes to the feed or the page that a link file names. The user who copies the file chose the address, as one
  /// who types it. The catalogue writes to the log why it fails.
  private func follow(link: String) -> Answer<Void> {
    Answer<OPMLImport>.pending { completion in
      let task = self.catalog.subscribe(address: link, name: nil, isTyped: true) { result in
        switch result {
        case .success: completion(.success(OPMLImport(added: 1, known: 0, problems: [])))
        case .failure(let error) where error.errno == .EEXIST:
          completion(.success(OPMLImport(added: 0, known: 1, problems: [])))
        // The host's answer says that there is no feed.
        case .failure(let error) where [.ENOENT, .EACCES, .EPROTO].contains(error.errno):
          completion(.failure(.EINVAL))
        case .failure(let error): completion(.failure(error.errnoForReader))
        }
      }
      return { task.cancel() }
    }.then { outcome in
      .on(self.loader) {
        self.takeInCommits()
        self.events.record(imported: outcome)
      }
    }
  }

  /// - Throws: EPERM where feeds are missing that are followed.
  private func refuseRemovals(_ bytes: [UInt8]) throws {
    let kept = Set(try catalog.feeds(inOPML: bytes).map { FeedKey.text($0) })
    let missing = try catalog.subscriptions().filter { !kept.contains(FeedKey.text($0.podcast.feedURL)) }
    if !missing.isEmpty { throw Errno.EPERM }
  }

  private func expire(_ upload: Upload) {
    loader.async(after: upload.isRefused ? 0 : Upload.lifetime) { [weak self] in
      // Somebody may have opened it meanwhile: the name goes after the last close.
      guard let self, upload.isExpired(at: .now) else { return }
      _ = forget(upload.node)
    }
  }

  func renameUpload(_ row: Int64, to name: String) -> Answer<Void> {
    .on(loader) {
      self.noteUpload()
      let difference = self.world.withLock { world -> Difference? in
        guard let upload = world.uploads[row], let old = upload.name else { return nil }
        upload.name = name
        var difference = self.set([(old, nil), (name, .node(upload.node))], in: .subscriptions, &world)
        // The kernel knows the names: it is moving one.
        difference.names = []
        difference.attributes.append(.subscriptions)
        return difference
      }
      guard let difference else { throw Errno.ENOENT }
      self.tell(difference)
    }
  }

  func removeUpload(_ id: NodeID) -> Answer<Void> {
    .on(loader) { _ = self.forget(id) }
  }

  /// Notes the time of the change; where that fails, the directory keeps its time.
  private func noteUpload() {
    try? catalog.noteUpload()
    readFolderTimes()
  }

  /// On the loader's thread.
  private func forget(_ id: NodeID) -> Bool {
    if world.withLock({ $0.uploads[id.row]?.name != nil }) { noteUpload() }
    let difference = world.withLock { world -> Difference? in
      guard let upload = world.uploads.removeValue(forKey: id.row), let name = upload.name else { return nil }
      var difference = set([(name, nil)], in: .subscriptions, &world)
      difference.attributes.append(.subscriptions)
      return difference
    }
    if let difference { tell(difference) }
    return difference != nil
  }
}
