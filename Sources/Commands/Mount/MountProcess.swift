internal import Catalog
internal import Configuration
internal import FeedKit
internal import FuseKit
internal import Glibc
internal import HTTPKit
internal import PodcastMount
internal import PodcastTree
internal import PosixKit
internal import TransferClient
internal import TransferProtocol

/// The process that serves a mount, from its start to its end.
struct MountProcess {
  let request: MountRequest

  init(_ request: MountRequest) { self.request = request }

  /// Mounts and serves until the file system is unmounted or a signal comes.
  /// - Parameter ready: called when the mount can be listed.
  /// - Returns: the exit status.
  func run(ready: () -> Void) throws -> Int32 {
    Signals.blockEnding()
    let http = HTTPClient(name: "catalog-http")
    let catalog = try Catalog(
      places: request.places, settings: request.settings, http: http, feedReader: .program())
    try MountSource.begin(request, catalog)
    let transfers = try TransferClient(places: request.places, settings: request.settings, isMount: true)
    let fetcher = SidecarDownloads(http: http, settings: request.settings, log: request.log)
    let tree = PodcastTree(
      catalog: catalog, transfers: transfers, fetcher: fetcher, settings: request.settings,
      places: request.places, owner: request.owner)
    let notice = CompletionNotice(
      settings: request.settings, mountPoint: request.mountPoint, places: request.places, log: request.log)
    tree.onCompletion(notice.completed)
    FailureWatch.begin(transfers, failed: notice.failed)
    let mounted = MountedTree(tree, at: request.mountPoint, isShared: request.isShared)
    let session = try FuseSession(mounted, at: request.mountPoint, options: request.fuseOptions)
    let device = MountTable.mount(on: request.mountPoint)?.device
    mounted.attach(to: session, device: device)
    session.serve(threads: Self.threads) { Signals.requestEnd() }
    request.log.write("mounted on \(request.mountPoint)")
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
    tree.keepWhatIsWanted()
    ready()

    _ = Signals.waitForEnding()
    ServiceManager.tellStopping()
    mounted.detach()
    takeAway(session, device)
    session.end(until: .after(Self.patience))
    tree.end()
    catalog.close()
    request.log.write("unmounted from \(request.mountPoint)")
    return 0
  }

  /// Takes the mount away, unless somebody has: where it was, another one may be by now, even with its number. One
  /// whose connection was aborted is dead, but there.
  private func takeAway(_ session: FuseSession, _ device: String?) {
    guard let mount = MountTable.mount(on: request.mountPoint), mount.device == device,
      session.isConnected || MountPoint.isDead(request.mountPoint)
    else { return }
    do { try Unmount.lazily(request.mountPoint) } catch {
      request.log.write("cannot unmount \(request.mountPoint): \(error)")
    }
  }

  /// Seconds that programs have at the end to close what they have open.
  private static let patience = 1.0

  /// More idle ones cost latency: 8 µs a call with one, 21 with four.
  private static let threads = 3
}
