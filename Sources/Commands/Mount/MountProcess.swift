internal import Catalog
internal import Configuration
internal import FuseKit
internal import Glibc
internal import HTTPKit
internal import PodcastMount
internal import PodcastTree
internal import PosixKit
internal import TransferClient

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
    let catalog = try Catalog(places: request.places, settings: request.settings, http: http)
    let transfers = try TransferClient(places: request.places, settings: request.settings, isMount: true)
    let fetcher = SidecarDownloads(http: http, settings: request.settings, log: request.log)
    let tree = try PodcastTree(
      catalog: catalog, transfers: transfers, fetcher: fetcher, settings: request.settings,
      places: request.places, owner: Owner(user: geteuid(), group: getegid()))
    let notice = CompletionNotice(
      settings: request.settings, mountPoint: request.mountPoint, places: request.places, log: request.log)
    tree.onCompletion(notice.completed)
    let mounted = MountedTree(tree)
    let session = try FuseSession(mounted, at: request.mountPoint, options: request.fuseOptions)
    mounted.attach(to: session)
    session.serve(threads: Self.threads) { Signals.requestEnd() }
    request.log.write("mounted on \(request.mountPoint)")
    AddressRenewal(catalog: catalog, transfers: transfers).begin()
    catalog.startScheduler()
    tree.begin()
    begin(tree, catalog)
    ready()

    _ = Signals.waitForEnding()
    mounted.detach()
    session.unmount()
    catalog.close()
    request.log.write("unmounted from \(request.mountPoint)")
    return 0
  }

  /// More idle ones cost latency: 8 µs a call with one, 21 with four.
  private static let threads = 3

  /// What mount(8) names as the device.
  private func begin(_ tree: PodcastTree, _ catalog: Catalog) {
    guard let source = request.source else { return }
    let log = request.log
    if source.lowercased().hasSuffix(".opml"), let bytes = try? Directories.read(source) {
      do { _ = try catalog.importOPML(bytes) } catch { log.write("cannot import \(source): \(error)") }
    } else if source.hasPrefix("http://") || source.hasPrefix("https://") {
      do { _ = try catalog.subscribe(feedURL: source, name: nil) } catch {
        log.write("cannot subscribe: \(error)")
      }
    } else {
      let isDone = Monitor(false)
      _ = catalog.search(source, replacing: nil) { result in
        if case .failure(let error) = result, error.errno != .EEXIST {
          log.write("cannot search for \(source): \(error)")
        }
        isDone.withLockNotifying { $0 = true }
      }
      // So that it can be listed when the command returns; a search takes ten seconds at the most.
      _ = isDone.wait(until: .after(11)) { $0 ? true : nil }
      tree.reloadSearches()
    }
  }
}
