internal import Catalog
internal import Configuration
internal import FeedKit
internal import FuseKit
internal import Glibc
internal import HTTPKit
package import MountHandover
internal import PodcastModel
internal import PodcastMount
internal import PodcastTree
internal import PosixKit
internal import TransferClient
internal import TransferProtocol

package struct MountProcess {
  private let request: MountRequest
  /// What the keeper starts next: see `Keeper`; nil where the mount ends with this process.
  private let call: [String]?
  /// What this one takes over; nil where it mounts.
  private let inheritance: InheritedMount?

  package init(_ request: MountRequest, call: [String]? = nil, _ inheritance: InheritedMount? = nil) {
    (self.request, self.call, self.inheritance) = (request, call, inheritance)
  }

  /// Mounts and serves until the file system is unmounted or a signal comes.
  /// - Parameter ready: called when the mount can be listed.
  package func run(ready: () -> Void) throws {
    Signals.blockEnding()
    ResourceLimits.shareHeaps()
    let memory = try inheritance?.memory ?? HandoverMemory()
    if let inheritance, memory[.ending] == 1 { return finish(inheritance) }
    if let death = inheritance?.takeDeath() {
      request.log.write("the process that served \(request.mountPoint) has died\(death)")
    }
    memory.noteFaults()
    if inheritance == nil { endSteering(besides: nil) }
    let transfers = try TransferClient(places: request.places, settings: request.settings, isMount: true)
    let http = HTTPClient(name: "catalog-http")
    let catalog = try Catalog(
      places: request.places, settings: request.settings, http: http, feedReader: .program())
    // A running daemon may know states that it has not stored yet.
    transfers.waitUntilCurrent(until: .after(Self.daemonPatience))
    let fetcher = SidecarDownloads(http: http, settings: request.settings, log: request.log)
    let tree = PodcastTree(
      catalog: catalog, transfers: transfers, fetcher: fetcher, settings: request.settings,
      places: request.places, owner: request.owner)
    let notice = CompletionNotice(request) { (try? catalog.effectiveRules(ofPodcast: $0))?.notify }
    tree.onCompletion(notice.completed)
    notice.watch(transfers)
    let mounted = MountedTree(tree, at: request.mountPoint, isShared: request.isShared, memory: memory)
    let session = try FuseSession(
      mounted, at: request.mountPoint, options: request.fuseOptions,
      inherited: inheritance.map { ($0.connection, $0.memory.greeting) })
    let mount = MountTable.mount(on: request.mountPoint)
    mounted.attach(to: session, device: mount?.device)
    if inheritance != nil { do { try session.resume() } catch { request.log.write("\(error)") } }
    session.serve(threads: Self.threads, served: { memory[.served] = 1 }) { Signals.requestEnd() }
    if inheritance != nil {
      mounted.resume()
    } else {
      request.log.write("mounted on \(request.mountPoint)")
      memory.greeting = session.waitForGreeting() ?? []
    }
    let keeper = keeper(memory, session.connection)
    do { try keeper?.begin() } catch {
      request.log.write("nobody keeps the mount on \(request.mountPoint): \(error)")
    }
    memory[.device] = mount?.device ?? 0
    memory[.places] = MountServer.number(of: request.places)
    memory[.process] = UInt64(getpid())
    // Who reads this may ask for the next process at once.
    if inheritance != nil { request.log.write("serves the mount on \(request.mountPoint) from now on") }
    AddressRenewal(catalog: catalog, transfers: transfers).begin()
    catalog.startScheduler {
      let worths = transfers.allStatuses().map { status in
        (
          status.key,
          1 + (status.isKept ? 4 : 0) + (status.state == .cached ? 2 : 0) + (status.received > 0 ? 1 : 0)
        )
      }
      return Dictionary(worths, uniquingKeysWith: max)
    }
    let rules = RuleKeeper(
      catalog, transfers, request: { tree.request(for: $0) },
      announce: { notice.appeared($1, ofPodcast: $0) })
    rules.begin()
    tree.indexTranscripts()
    let schedule = SyncSchedule(catalog: catalog, request: request, http: http)
    schedule.start()
    let renewal = DirectoryRenewal(settings: request.settings, places: request.places, log: request.log)
    renewal.begin()
    catalog.observeReplacement { [request] in Self.replaced(request, isKept: keeper != nil) }
    ready()

    while let sender = Signals.waitForEndingOrHandOver() {
      if let keeper { handOver(keeper, memory, askedBy: sender) }
    }
    // If this process is killed before the mount is away, the next process only takes the mount away.
    memory[.ending] = 1
    mounted.detach()
    takeAway(session.connection, mount?.device)
    keeper?.dismiss()
    session.end(until: .after(Self.patience))
    schedule.stop()
    // A client that is not stopped starts the daemon again, which would make a demonstration's folders again.
    rules.stop()
    renewal.stop()
    endSteering(besides: mount?.device)
    try? transfers.steer(transfers.steering)
    transfers.stop()
    catalog.close()
    request.log.write("unmounted from \(request.mountPoint)")
  }

  /// The user's steering of background downloads (`limit_rate`, `paused`) ends with the last of his mounts.
  /// - Parameter device: of this mount.
  private func endSteering(besides device: UInt64?) {
    // To find other mounts takes milliseconds.
    if Steering(runtime: request.places.runtime) == Steering() { return }
    let others = MountServer.all(places: request.places).filter { $0.device != device }
    if others.isEmpty { try? Steering().store(runtime: request.places.runtime) }
  }

  /// What makes the mount outlive this process: it has the connection to the kernel too, and starts the next process. nil
  /// where the mount ends with this one.
  private func keeper(_ memory: HandoverMemory, _ connection: Int32) -> Keeper? {
    guard let call else { return nil }
    if FuseSession.canBeHandedOver(memory.greeting) {
      return Keeper(connection: connection, memory: memory, call: call, inherited: inheritance?.keeper)
    }
    request.log.write("the mount ends with its process: the kernel cannot hand it over (Linux 6.9 can)")
    return nil
  }

  /// Makes way for the next process, if there can be one: then this does not return.
  /// - Parameter sender: the process that asks: where it is a podcastfs, its program serves from now on.
  private func handOver(_ keeper: Keeper, _ memory: HandoverMemory, askedBy sender: Int32) {
    let asking = Directories.linkTarget("/proc/\(sender)/exe")
    let program = asking.flatMap { $0.hasSuffix("/podcastfs") ? $0 : nil } ?? ProgramArguments.file
    do { try keeper.handOver(to: program) } catch {
      return request.log.write("cannot hand the mount on \(request.mountPoint) over: \(error)")
    }
    memory[.handingOver] = 1
    request.log.write("hands the mount on \(request.mountPoint) over")
    // Told to end meanwhile, the next one does that.
    if Signals.isEndPending { memory[.ending] = 1 }
    // What it has not answered is asked of the next one.
    _exit(0)
  }

  /// Another process has set the catalogue aside or removed it: the next process opens the new one.
  private static func replaced(_ request: MountRequest, isKept: Bool) {
    // Whoever did so has more files to rename, or to make.
    usleep(settling)
    let file = request.places.data + "/catalog.sqlite"
    var canGoOn = isKept
    // This program would set aside what another version has begun, and that one in turn, without end.
    if case .otherVersion = CatalogCondition(ofFile: file),
      Processes.isRunning(ProgramArguments.file, in: getpid())
    {
      canGoOn = false
    }
    let cure = "changes fail until podcastfs mounts \(request.mountPoint) again"
    request.log.write("the catalogue \(file) was replaced: \(canGoOn ? "another process opens it" : cure)")
    if canGoOn { Signals.requestHandOver() }
  }

  /// The process before was killed when it was about to end the mount.
  private func finish(_ inheritance: InheritedMount) {
    takeAway(inheritance.connection, inheritance.memory[.device])
    keeper(inheritance.memory, inheritance.connection)?.dismiss()
    request.log.write("unmounted from \(request.mountPoint), after its process was killed at that")
  }

  /// Unmounts, unless it was unmounted: another mount may be there by now, even with the same device number. A mount whose
  /// connection was aborted is dead, but still there.
  private func takeAway(_ connection: Int32, _ device: UInt64?) {
    guard let mount = MountTable.mount(on: request.mountPoint), mount.device == device,
      FuseSession.isConnected(connection) || MountPoint.isDead(request.mountPoint)
    else { return }
    do { try Unmount.run(request.mountPoint, lazily: true) } catch {
      request.log.write("cannot unmount \(request.mountPoint): \(error)")
    }
  }

  /// Seconds to wait for a running daemon's states: it answers within a millisecond, unless it is stuck.
  private static let daemonPatience = 0.1

  /// Microseconds after the catalogue was replaced.
  private static let settling: UInt32 = 300_000

  /// Seconds that programs have at the end to close their files.
  private static let patience = 1.0

  /// Requests of the kernel that are worked on at once. Idle threads cost latency: 8 µs a call with one, 21 with four.
  private static let threads = 3
}
