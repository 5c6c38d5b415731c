internal import Catalog
internal import Configuration
internal import Glibc
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// The files in `.podcastfs/`: for the owner alone, because private feeds have tokens.
struct ControlFile: TreeNode {
  let tree: PodcastTree
  let id: NodeID
  var hasVerbs: Bool { false }

  func attributes() -> Answer<NodeAttributes> {
    var attributes = tree.state.withLock { tree.controlFileAttributes(id, $0) }
    if id == .log {
      attributes.size = FollowedFile.size(tree.places.logFile)
      attributes.stored = attributes.size
    }
    return .value(attributes)
  }

  func open(writes: Bool, for caller: Caller) -> Answer<any OpenFile> {
    guard tree.owner.admits(caller) else { return .failure(.EACCES) }
    if writes { return .failure(.EROFS) }
    switch id {
    // The text that it had open is gone with the process that made it.
    case .status where caller.comesAgain: return .failure(.ESTALE)
    case .status: return .on(tree.loader) { TextFile(tree.statusText()) }
    case .metrics where caller.comesAgain: return .failure(.ESTALE)
    case .metrics: return .on(tree.loader) { TextFile(tree.metricsText()) }
    case .events: return .value(tree.events.open())
    default: return .value(FollowedFile(tree.places.logFile))
    }
  }
}

/// `subscriptions.opml`: always the current list. What is written to it is a list to be subscribed to.
struct SubscriptionListFile: TreeNode {
  let tree: PodcastTree
  var id: NodeID { .subscriptionList }

  func attributes() -> Answer<NodeAttributes> {
    .inMemory(or: tree.loader) {
      tree.state.withLock { state in
        state.subscriptionListSize.map { _ in tree.controlFileAttributes(id, state) }
      }
    } load: {
      let size = try tree.catalog.subscriptionListSize()
      tree.state.withLock { $0.subscriptionListSize = size }
    }
  }

  func open(writes: Bool, for caller: Caller) -> Answer<any OpenFile> {
    guard tree.owner.admits(caller) else { return .failure(.EACCES) }
    let program = tree.programs.program(ofThread: caller.thread)
    if writes { return .value(tree.writtenList(by: program)) }
    if caller.comesAgain { return .failure(.ESTALE) }
    return .on(tree.loader) {
      let file = TextFile(try tree.catalog.exportOPML())
      if let program { tree.listReaders.note(program) }
      return file
    }
  }

  func change(size: Int64?, onlyTimes: Bool) -> Answer<NodeAttributes> {
    size == 0 || onlyTimes ? attributes() : .failure(size == nil ? .EPERM : .EROFS)
  }
}

extension PodcastTree {
  func controlFileAttributes(_ node: NodeID, _ state: TreeState) -> NodeAttributes {
    let size = node == .subscriptionList ? state.subscriptionListSize : nil
    let time = node == .subscriptionList ? state.time(state.listTimes.subscriptionList) ?? started : .now
    var attributes = NodeAttributes(
      node: node, permissions: node == .subscriptionList ? 0o600 : 0o400, size: size ?? 4096, modified: time)
    if size == nil { attributes.timeout = 0 }
    return attributes
  }

  func statusText() -> [UInt8] {
    let statuses = transfers.allStatuses()
    let told = state.withLock { state in
      statuses.map { status in
        status.withLength(ofFeed: state.downloadOfKey[status.key].flatMap { state.downloads[$0]?.feedLength })
      }
    }
    let report = StatusReport.json(
      told, version: podcastfsVersion, cacheLimit: settings.cacheSize)
    return Array(report.indentedText.utf8) + [UInt8(ascii: "\n")]
  }
}
