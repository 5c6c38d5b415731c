internal import Catalog
internal import Configuration
internal import PodcastModel
internal import PosixKit

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

  func change(size: Int64?, onlyTimes: Bool) -> Answer<NodeAttributes> {
    if let size, let errno = upload?.truncate(to: size) { return .failure(errno) }
    return attributes()
  }
}

extension PodcastTree {
  /// A list under a name of its own: in the directory until it goes.
  func createUpload(_ name: String) -> Answer<CreatedFile> {
    .on(loader) {
      let upload = self.state.withLock { state in
        let id = NodeID(.upload, state.nextUpload)
        state.nextUpload += 1
        let upload = Upload(node: id, name: name) { [weak self] bytes in
          self?.importFile(bytes, name, isEdited: false) ?? .failure(.EIO)
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

  /// A write to `subscriptions.opml` itself. A program that has read the list before is an editor: it expects a line that
  /// it leaves out to go. Only `rmdir` unfollows, so that its close fails.
  func writtenList(by program: Program?) -> any OpenFile {
    let isEditor = program.map { listReaders.contains($0) } ?? false
    return Upload(node: .subscriptionList, name: nil) { [weak self] bytes in
      self?.importFile(bytes, SubscriptionsFolder.listName, isEdited: isEditor) ?? .failure(.EIO)
    } onIdle: { _ in
    }.open()
  }

  /// Subscribes to the feeds of a list, or to the feed or page that a link file names. What cannot be used is written to
  /// the log.
  private func importFile(_ bytes: [UInt8], _ name: String, isEdited: Bool) -> Answer<Void> {
    let log: @Sendable (String) -> Void = { [path = places.logFile] problem in
      LogFile(path).write("\(name), copied to Subscriptions: \(problem)")
    }
    return commit { () -> String? in
      if isEdited { try self.refuseRemovals(bytes) }
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
      let mayBeEmpty = name == SubscriptionsFolder.listName && outcome.refused == 0
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

  /// - Throws: EPERM where feeds are missing that are followed.
  private func refuseRemovals(_ bytes: [UInt8]) throws {
    let kept = Set(try catalog.feeds(inOPML: bytes).map { FeedKey.text($0) })
    let missing = try catalog.subscriptions().filter { !kept.contains(FeedKey.text($0.podcast.feedURL)) }
    if !missing.isEmpty { throw Errno.EPERM }
  }

  private func expire(_ upload: Upload) {
    loader.async(after: upload.isRefused ? 0 : Upload.lifetime) { [weak self] in
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
