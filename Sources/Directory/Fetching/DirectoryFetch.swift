package import HTTPKit
internal import PodcastModel
internal import PosixKit

/// Downloads a dump. The bytes that have come stay when the program ends; the next program continues after them.
package struct DirectoryFetch {
  /// Podcast Index's own.
  package static let usualAddress = "https://public.podcastindex.org/podcastindex_feeds.db.tgz"

  /// The download fails after so many requests in a row that have brought no byte.
  private static let attempts = 5
  /// Bytes that the unpacked dump and the new directory take together for each byte of the archive.
  private static let expansion = 4.5

  let place: DirectoryPlace
  /// The request for the whole dump.
  let request: HTTPRequest
  /// Bytes that are to stay free on the disk.
  let minimumFree: Int64
  /// Seconds before the second request that follows one that has brought nothing; each further one waits twice as long.
  let firstPause: Double
  let progress: (_ bytes: Int64, _ total: Int64?) -> Void

  package init(
    place: DirectoryPlace, request: HTTPRequest, minimumFree: Int64, firstPause: Double = 2,
    progress: @escaping (_ bytes: Int64, _ total: Int64?) -> Void = { _, _ in }
  ) {
    (self.place, self.request, self.minimumFree) = (place, request, minimumFree)
    (self.firstPause, self.progress) = (firstPause, progress)
  }

  /// Downloads the dump, unless it is the one that is installed.
  /// - Parameter installed: see `DirectoryFacts.identity`.
  /// - Returns: what it is; nil where the server has nothing new.
  /// - Throws: `DirectoryError`, `HTTPError`, `PosixError`, `DirectoryImport.NoRoom`.
  package func run(_ client: HTTPClient, installed: String?) throws -> DumpIdentity? {
    try Directories.create(place.cache)
    let part = DumpPart(path: place.download)
    var (failures, pause) = (0, firstPause)
    // Bytes that have come. An answer that begins anew brings no more before it is longer.
    var furthest: Int64 = 0
    let installed = installed.flatMap { DumpIdentity(text: $0) }.flatMap { $0.url == request.url ? $0 : nil }
    while true {
      let download = DumpDownload(
        url: request.url, part: part, installed: installed, checkRoom: checkRoom, progress: progress)
      var request = request
      request.headers += download.headers()
      client.start(request, receiver: download)
      switch download.wait() {
      case .complete: return download.identity
      case .unchanged: return nil
      case .replaced: part.remove()
      case .failed(let error): throw error
      case .cut(let error):
        failures = download.bytes > furthest ? 0 : failures + 1
        furthest = max(furthest, download.bytes)
        guard failures < Self.attempts, error.code != .cancelled else { throw error }
        if failures > 0 {
          _ = Monitor(()).wait(until: .after(pause)) { _ in Bool?.none }
          pause *= 2
        }
      }
    }
  }

  private func checkRoom(_ size: Int64) throws {
    let needed = Int64(Double(size) * Self.expansion)
    guard let free = DiskSpace.available(at: place.cache), free - minimumFree < needed else { return }
    throw DirectoryImport.NoRoom(folder: place.cache, needed: needed, free: free, reserved: minimumFree)
  }
}

extension DirectoryPlace {
  /// Removes a download that was installed or cannot be used.
  package func removeDownload() { DumpPart(path: download).remove() }

  /// How many bytes of an unfinished download have come, and the dump's size; nil where there is none.
  package func downloaded(of url: String) -> (bytes: Int64, total: Int64?)? {
    DumpPart(path: download).found(of: url).map { ($0.bytes, $0.identity.length) }
  }
}
