internal import EpisodeCache
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol
internal import TransferStore

// The bytes of a download: where they are, and when they are no more.
extension Engine {
  /// Opens what is stored of the current generation, where it is needed and there is any.
  func prepareWriter(of download: Download) {
    if let writer = download.writer {
      // Deleted with the cache: who has it open keeps it, and what comes for them; others begin anew.
      let isHeld =
        download.handles.contains { $0.generation == writer.generation }
        && !download.handles.contains { $0.isOpening }
      if !isHeld && !writer.isLinked { forgetBytes(of: download) }
      return
    }
    guard download.isWanted || !download.handles.isEmpty, !download.isStoreRefused else { return }
    adoptStray(of: download)
    guard download.record.generation > 0 else { return }
    guard layout.hasData(download.key, download.record.generation) else {
      if download.received > 0 { forgetBytes(of: download) }
      return
    }
    download.storeRefusedUntil = nil
    do {
      let writer = try EpisodeWriter(continuing: layout, download.key, download.record.generation)
      download.writer = writer
      download.record.total = writer.representation.total
      download.record.received = writer.received
      if download.record.state == .cached && !writer.isComplete {
        // The disk has lost what it never took.
        download.record.state = download.isOpenForDownload ? .queued : .remote
      }
    } catch let error as PosixError where error.errno != .ENOENT {
      // The bytes are there; something is lacking that may be there again.
      download.storeRefusedUntil = .after(1)
      loop.schedule(at: .after(1)) { self.touch(download) }
      suffer(Fault(Self.isFull(error) ? .noRoom : .passing, "\(error)"), download)
    } catch {
      // Deleted, or without a word of what it is: what is needed comes again.
      forgetBytes(of: download)
    }
  }

  /// A generation that was begun just before the daemon was killed is in the cache, and readers have seen it,
  /// though the store never heard of it: its number must not be given to other bytes.
  private func adoptStray(of download: Download) {
    if download.hasLookedForStray { return }
    download.hasLookedForStray = true
    let latest = layout.latestGeneration(of: download.key, from: download.record.generation)
    if latest > download.record.generation { download.record.generation = latest }
  }

  /// Closes the writer when nobody needs it, after its bytes are on the disk.
  func releaseWriter(of download: Download) {
    guard let writer = download.writer, !download.isReleasing else { return }
    if download.isReleaseRefused && download.flows.isEmpty {
      // Whoever needs it next takes it up again.
      if !download.isWanted && download.handles.isEmpty {
        download.record.received = writer.received
        download.writer = nil
      }
      return
    }
    download.isReleaseRefused = false
    let isIdle = download.flows.isEmpty && !download.isWanted && download.handles.isEmpty
    guard isIdle || download.needsSynchronization else { return }
    download.needsSynchronization = false
    download.isReleasing = true
    let key = download.key
    disk.synchronize(writer) { error in
      self.loop.async {
        guard let download = self.downloads[key], download.writer === writer else { return }
        download.isReleasing = false
        if let error {
          // Not again before something else has happened to it: what is not on the disk is in the live map.
          download.isReleaseRefused = true
          self.fail(download, error)
        } else if !writer.isLinked {
          self.forgetBytes(of: download)
        } else if download.flows.isEmpty && !download.isWanted && download.handles.isEmpty {
          download.record.received = writer.received
          // The journal tells it all from now on.
          if writer.isComplete { writer.removeMap() }
          download.writer = nil
        }
        self.touch(download)
      }
    }
  }

  /// Begins a new generation; readers of the old one keep what had come of it.
  func beginGeneration(of download: Download, _ representation: Representation) throws {
    let old = download.record.generation
    download.writer = nil
    var generation = old
    repeat {
      generation += 1
      do {
        download.writer = try EpisodeWriter(creating: layout, download.key, generation, representation)
      } catch let error as PosixError where error.errno == .EEXIST {
        // Left by a store that was lost: never the same number for other bytes.
        layout.remove(download.key, generation)
      }
    } while download.writer == nil
    if old > 0 { layout.remove(download.key, old) }
    cacheWatch?.renew()
    download.record.generation = generation
    download.record.total = representation.total
    download.record.received = 0
    download.beginsAnew = false
    download.needsOverlap = false
    download.indexRange = nil
    download.receivedAtFault = 0
    download.generationsBegun += 1
    download.isReleasing = false
  }

  /// The bytes are gone or to go: dropped by the user, evicted, or the cache folder was deleted.
  func forgetBytes(of download: Download) {
    endFlows(of: download)
    if download.record.generation > 0 { layout.remove(download.key, download.record.generation) }
    download.writer = nil
    download.isReleasing = false
    download.isReleaseRefused = false
    download.isConfirmed = false
    download.needsOverlap = false
    download.indexRange = nil
    // Its size stays known, until the server says another.
    download.record.received = 0
    if download.record.state == .cached { download.record.state = .remote }
  }

  /// Somebody has deleted files of the cache.
  func checkCache(_ keys: Set<MediaKey>?) {
    for download in keys.map({ $0.compactMap { downloads[$0] } }) ?? Array(downloads.all.values) {
      guard download.received > 0, !layout.hasData(download.key, download.record.generation) else { continue }
      if download.writer == nil { forgetBytes(of: download) }
      touch(download)
    }
  }

  /// Whether nobody will ask for a generation: it is older than the one that counts; or nothing is known of
  /// the episode, and whoever was reading it when the daemon was killed would have asked again by now.
  private func isStray(_ generation: UInt32, of key: MediaKey, _ download: Download?) -> Bool {
    if let download { return generation < download.record.generation }
    return (layout.lastWritten(key, generation) ?? 0) < wallClockSeconds() - 3600
  }

  /// Removes what no record speaks of, in the background: files of a store that was lost, or of generations
  /// that a crash left behind.
  func sweep() {
    let layout = layout
    disk.afterAll {
      let found = layout.generations()
      self.loop.async {
        for (key, generations) in found {
          let download = self.downloads[key]
          if let download { self.adoptStray(of: download) }
          for generation in generations where self.isStray(generation, of: key, download) {
            layout.remove(key, generation)
          }
        }
      }
    }
  }
}
