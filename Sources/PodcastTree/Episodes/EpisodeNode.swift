internal import Catalog
internal import Configuration
package import PodcastModel
internal import PosixKit
internal import Transcripts
package import TransferProtocol

struct EpisodeNode: TreeNode {
  let tree: PodcastTree
  let id: NodeID

  func attributes() -> Answer<NodeAttributes> {
    tree.linksKnown.then { tree.listed(id.row) }.map { episode in
      let status = tree.transfers.status(of: episode.mediaKey)
      return tree.state.withLock { $0.attributes(of: episode, node: id, status) }
    }
  }

  func open(writes: Bool, for caller: Caller) -> Answer<any OpenFile> {
    if writes { return .failure(.EROFS) }
    let program = tree.programs.program(ofThread: caller.thread)
    return tree.listed(id.row).then { episode in
      tree.entry(ofEpisode: id.row).then { open(episode, $0, by: program, for: caller) }
    }
  }

  private func open(
    _ episode: ListedEpisode, _ entry: EpisodeEntry, by program: Program?, for caller: Caller
  ) -> Answer<any OpenFile> {
    let status = tree.transfers.status(of: episode.mediaKey)
    if status?.state == .paused { tree.sweeps.ordered(episode.id) }
    let opener = DownloadPolicy.Opener(
      habit: program?.habit ?? .reads,
      isBarred: caller.sniffs || tree.isBarred(caller, program) || entry.episode.isReplaced,
      isReopening: caller.resumes != nil, hasLetGo: tree.sweeps.isLetGo(episode.id, by: program))
    let request = tree.request(for: entry)
    let had = caller.resumes.flatMap { $0 == 0 ? nil : $0 }
    guard case .open(let intent, let wait) = DownloadPolicy.decide(opener, status, tree.settings.trigger)
    else { return had == nil ? refused(request, isReplaced: entry.episode.isReplaced) : .failure(.ESTALE) }
    if caller.resumes == nil, intent != .cachedOnly, !tree.sweeps.isSweep(program) {
      tree.noteByHand(episode.id)
    }
    if caller.resumes == nil, intent.startsDownload {
      tree.sweeps.opened(episode.id, by: program, isNew: status?.stage ?? .absent == .absent)
    }
    // The episode counts as open from here: its download does not leave the queue when another program closes it.
    tree.state.withLock { $0.open.begin(id) }
    return opened(request, intent).then { opened -> Answer<any OpenEpisode> in
      if opened.generation == had ?? opened.generation { return .value(opened) }
      opened.close()
      // The bytes that a reader had are gone with the process before: no other file's may follow on them.
      return .failure(.ESTALE)
    }.then { opened in
      if opened.size != nil { return .value(opened) }
      switch wait {
      case .no: return .value(opened)
      case .forFirstByte: return awaiting(opened, 0)
      case .forEnd: return awaiting(opened, EpisodeSize.limit - 1)
      }
    }.then { opened in
      accept(opened, episode, request, intent, program, caller).map { .value($0) }
        ?? lookAgain(episode, opened)
    }.recover { errno in
      tree.state.withLock { $0.open.close(id) }
      return .failure(errno)
    }
  }

  /// The episode's names lead to another node when open(2) looks again.
  private func lookAgain(_ episode: ListedEpisode, _ opened: any OpenEpisode) -> Answer<any OpenFile> {
    .on(tree.loader) {
      tree.transferChanged(episode.mediaKey)
      var difference = Difference()
      difference.names = tree.state.withLock { $0.names(of: episode).episodes }
      difference.listings = difference.names.map(\.directory)
      tree.tell(difference)
      opened.close()
      throw Errno.ESTALE
    }
  }

  private func opened(_ request: TransferRequest, _ intent: OpenIntent) -> Answer<any OpenEpisode> {
    .begun { completion in tree.transfers.open(request, intent: intent) { completion($0.mapError(\.errno)) } }
  }

  private func awaiting(_ opened: any OpenEpisode, _ offset: Int64) -> Answer<any OpenEpisode> {
    .task { completion in
      opened.whenAvailable(at: offset, count: 1) { failure in
        if failure != nil { opened.close() }
        completion(failure.map { .failure($0) } ?? .success(opened))
      }
    }
  }

  /// The kernel keeps one size and one set of pages for each node. Where the episode's size has turned out to be
  /// another than this node was shown with, or it is another representation by now, the handle is read past the
  /// kernel's pages, and the node's attributes are told anew: so also who has opened it by a descriptor or handle,
  /// and can't look it up again, gets the right bytes and the right size. Its names lead to another node from now
  /// on, which has never had another size.
  /// - Returns: nil where others read another representation through this node.
  private func accept(
    _ opened: any OpenEpisode, _ episode: ListedEpisode, _ request: TransferRequest, _ intent: OpenIntent,
    _ program: Program?, _ caller: Caller
  ) -> (any OpenFile)? {
    let current = episode.node(generation: opened.generation, size: opened.size)
    let representation = OpenEpisodes.Representation(generation: opened.generation, size: opened.size)
    let isOther = current != id
    guard tree.state.withLock({ $0.open.settle(id, representation, forThread: caller.thread) }) else {
      return nil
    }
    let shownSize: Int64? =
      opened.size == nil
      ? tree.state.withLock { state in
        var status = state.status(of: episode)
        // That size may be of an earlier generation: the report of the new one may still be on its way.
        status?.total = nil
        return EpisodeSize(episode, status).whileUnknown
      } : nil
    let isComing = intent.startsDownload && !opened.isWhole
    let isPast = opened.size == nil || isOther
    let way: EpisodeFile.Way =
      switch program?.habit {
      case .plays where isComing: .parts
      case .browses where isComing && intent == .downloadAtRead: .look
      default: isPast ? .direct : .pages
      }
    let keepsPages = tree.state.withLock { $0.open.keepsPages(of: id, opened.generation) }
    return EpisodeFile(
      opened, way, keepsCache: keepsPages && !isPast, changesAttributes: isOther, shownSize: shownSize,
      onFirstRead: { [tree, id] in tree.state.withLock { $0.open.hasPages(of: id, opened.generation) } },
      onRefusal: { [tree] in tree.transfers.note(.lasting($0), ofReading: request) },
      onClose: { closed(episode, intent, program, $0) })
  }

  private func closed(
    _ episode: ListedEpisode, _ intent: OpenIntent, _ program: Program?, _ file: EpisodeFile
  ) {
    tree.state.withLock { $0.open.close(id) }
    // The daemon keeps a download in the queue while a reader has it open: the last close asks again.
    let isStillQueued =
      tree.sweeps.isLetGo(episode.id, by: program)
      && tree.transfers.status(of: episode.mediaKey)?.stage == .running
    guard intent.startsDownload || isStillQueued, let program else { return }
    let size = file.size ?? episode.feedLength ?? episode.estimate
    let isShort = file.bytesRead < 1 << 20 && file.bytesRead < size / 10
    let leaves = tree.sweeps.closed(episode.id, by: program, isShort: isShort)
    if leaves, !tree.state.withLock({ $0.open.isOpen(episode.id) }) {
      tree.sweeps.leaves(episode.id)
      tree.transfers.order(.leave(episode.mediaKey)) { _ in }
    }
  }

  func extendedAttributes() -> Answer<AttributeList> {
    tree.detail(id.row).then { detail in
      tree.listed(id.row).then { episode in
        hits(detail.entry.episode.mediaKey).map { hits in
          EpisodeAttributes.list(episode, detail, status: status(of: episode), isQueued: isQueued, hits: hits)
        }
      }
    }
  }

  func extendedAttribute(_ name: String) -> Answer<String?> {
    guard EpisodeAttributes.isKnown(name) else { return .value(nil) }
    if let value = EpisodeAttributes.ofTransfer[name] {
      return tree.listed(id.row).map { episode in
        let status = status(of: episode)
        return value(EpisodeSize(episode, status), status)
      }
    }
    return tree.detail(id.row).then { detail in
      // Long texts may be cut by what else there is.
      if detail.facts.hasRoom(for: EpisodeAttributes.transferLimit), let fact = detail.facts.value(name) {
        return .value(fact)
      }
      return extendedAttributes().map { $0.value(name) }
    }
  }

  /// It may have to read the transcript.
  private func hits(_ key: MediaKey) -> Answer<[TranscriptHit]?> {
    if tree.state.withLock({ $0.views.queries.values.allSatisfy(\.transcript.isEmpty) }) {
      return .value(nil)
    }
    return .on(tree.loader) { tree.hits(of: id.row, key) }
  }

  private var isQueued: Bool { tree.state.withLock { $0.views.queue[id.row] != nil } }

  /// The status that attributes show. While the daemon cannot be reached, `error` says why.
  private func status(of episode: ListedEpisode) -> TransferStatus? {
    let status = tree.transfers.status(of: episode.mediaKey)
    guard status?.state != .cached, status?.error == nil, let why = tree.transfers.failure else {
      return status
    }
    var told = status ?? TransferStatus(TransferRequest(key: episode.mediaKey))
    told.error = why
    return told
  }

  private func refused<Value>(_ request: TransferRequest, isReplaced: Bool) -> Answer<Value> {
    let why =
      isReplaced
      ? "the feed has put another episode at this address"
      : "not in the cache, and this program's reads fetch nothing"
    tree.transfers.note(.lasting(why), ofReading: request)
    return .failure(.EIO)
  }

  func set(_ key: String, to value: String, for caller: Caller) -> Answer<Void> {
    if key == EpisodeAttributes.tags {
      // The absence of a tag changes nothing: a program may write only the one that it adds.
      let tags = value.split(whereSeparator: { $0 == "," || $0.isWhitespace })
      let marks = [("played", "played"), ("kept", "keep")].filter { tags.contains($0.0) }
      return marks.reduce(.value(())) { done, mark in done.then { set(mark.1, to: "1", for: caller) } }
    }
    let isMark = key == "played" || key == "keep"
    guard isMark || key == "state" || key == "position" else { return .failure(.EPERM) }
    if isMark && value != "0" && value != "1" { return .failure(.EINVAL) }
    tree.sweeps.ordered(id.row)
    tree.noteByHand(id.row)
    let row = id.row
    if key == "played" { return tree.commit { try tree.catalog.setPlayed(value == "1", episode: row) } }
    if key == "position" {
      guard let position = PositionText.milliseconds(value) else { return .failure(.EINVAL) }
      let margin = tree.settings.playedMargin
      return tree.commit { try tree.catalog.setPosition(position, episode: row, margin: margin) }
    }
    return tree.entry(ofEpisode: id.row).then { entry in
      let request = tree.request(for: entry)
      if entry.episode.isReplaced && value == TransferState.downloading.name {
        return refused(request, isReplaced: true)
      }
      if key == "keep" { return tree.order(.setKept(request, value == "1")) }
      switch TransferState(rawValue: value) {
      // Only the note above, which the loader writes, protects it from rules.
      case .downloading where tree.transfers.status(of: request.key)?.state == .cached:
        return .on(tree.loader) {}
      case .downloading: return tree.order(.start(request))
      case .paused: return tree.order(.pause(request))
      case .remote: return tree.order(.drop(request.key))
      default: return .failure(.EINVAL)
      }
    }
  }
}

extension PodcastTree {
  package func request(for entry: EpisodeEntry) -> TransferRequest {
    let episode = entry.episode
    return TransferRequest(
      key: episode.mediaKey, url: entry.enclosureAddress.forRequest,
      expectedLength: EpisodeSize.plausibleLength(of: episode), title: episode.title,
      show: entry.podcast.title,
      fileName: episode.fileName, allowsPrivateHosts: entry.podcast.allowsPrivateHosts,
      userAgent: settings.feeds.isEmpty
        ? nil : (try? catalog.feedSettings(ofPodcast: entry.podcast.id))?.userAgent)
  }
}

extension TreeState {
  func attributes(of episode: ListedEpisode, node: NodeID, _ status: TransferStatus?) -> NodeAttributes {
    var attributes = NodeAttributes(node: node, permissions: 0o644, modified: FileTime(episode.modified))
    // Readers keep the size that they opened: another size would cut their reads off, or show zeros behind the end.
    let size = EpisodeSize(episode, status)
    let isUnknown = node.isOfUnknownSize || open.isOfUnknownSize(node)
    attributes.size = open.size(of: node) ?? (isUnknown ? size.whileUnknown : size.bytes)
    attributes.stored = status?.received ?? 0
    attributes.links = UInt32(max(1, linkCount(of: episode)))
    return attributes
  }
}
