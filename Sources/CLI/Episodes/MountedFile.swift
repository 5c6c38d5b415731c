internal import Catalog
internal import Configuration
internal import Glibc
internal import MountService
internal import PodcastModel
internal import PodcastTree
internal import PosixKit
internal import TransferProtocol

/// An episode's file in a mount, or another file or folder there, seen and steered by its attributes, as any program can.
struct MountedFile {
  let path: String

  /// Some of a podcast's episodes, which come the newest first.
  typealias Choice = ([MountedFile]) -> [MountedFile]

  /// - Throws: `CommandFailure` where nothing is at the path, or nothing is mounted.
  static func status(at path: String) throws -> stat {
    var status = stat()
    guard stat(path, &status) != 0 else { return status }
    let reason = Errno.current
    if reason == .ENOENT { _ = try UserMount.root() }
    throw CommandFailure("\(path): \(reason)")
  }

  /// The episodes that a path means: the file itself, or those directly in a directory, the newest first. With a choice
  /// also those of the podcasts in a directory.
  /// - Throws: `CommandFailure` where the path is nothing of a mount, or nothing is mounted.
  static func all(at path: String, _ choice: Choice? = nil) throws -> [MountedFile] {
    let status = try status(at: path)
    guard status.st_mode & S_IFMT == S_IFDIR else {
      let episode = MountedFile(path: path)
      if try episode.attribute("state") != nil { return [episode] }
      throw CommandFailure("\(path): not an episode in a podcastfs mount")
    }
    var folders = [try directly(in: path)]
    if folders[0].isEmpty, choice != nil {
      let inside = try Directories.names(in: path).sorted().map { MountedFile(path: "\(path)/\($0)") }
      folders = try inside.filter { $0.text("feed_url") != nil }.map { try directly(in: $0.path) }
    }
    if folders.contains(where: { !$0.isEmpty }) { return folders.flatMap(choice ?? { $0 }) }
    let mount = MountPoint.absolutePath(path).flatMap(MountTable.mount(holding:))
    let why = mount?.isOurs == true ? "there are no episodes in this folder" : "not in a podcastfs mount"
    throw CommandFailure("\(path): \(why)")
  }

  /// The episodes directly in a directory, the newest first; none where it is not there.
  static func directly(in path: String) throws -> [MountedFile] {
    let names: [String]
    do throws(PosixError) { names = try Directories.names(in: path).sorted(by: >) } catch {
      if error.errno == .ENOENT { return [] }
      // The attribute says why the feed cannot be read.
      throw CommandFailure(MountedFile(path: path).text("error").map { "\(path): \($0)" } ?? "\(error)")
    }
    let base = path.hasSuffix("/") ? path : path + "/"
    // A stranger's file, which does not let its attributes be read, is none; nor is one that has gone meanwhile.
    return names.map { MountedFile(path: base + $0) }.filter { $0.text("state") != nil }
  }

  struct Found {
    var episodes: [MountedFile] = []
    /// The paths that are nothing of a mount, and why.
    var failures: [(episode: MountedFile, failure: CommandFailure)] = []
    func report() { for (_, failure) in failures { StandardStreams.complain("\(failure)") } }
  }

  /// The episodes that several paths mean. A path that is no episode does not keep the others from being found. A cover, a
  /// transcript or another file beside an episode of the call is passed over: a shell's `*` names it, too.
  static func all(atEach paths: [String], _ choice: Choice? = nil) -> Found {
    var found = Found()
    var folders: Set<Substring> = []
    func folder(_ path: String) -> Substring { path[..<(path.lastIndex(of: "/") ?? path.startIndex)] }
    for path in paths {
      do {
        let episodes = try all(at: path, choice)
        if episodes.first?.path == path { folders.insert(folder(path)) }
        found.episodes += episodes
      } catch { found.failures.append((MountedFile(path: path), CommandFailure(of: path, error))) }
    }
    // `Subscriptions/*` names the list of subscriptions, too.
    let isBesideFolders = !found.episodes.isEmpty
    found.failures.removeAll { episode, _ in
      folders.contains(folder(episode.path)) && Directories.exists(episode.path)
        || isBesideFolders && episode.path.hasSuffix("/subscriptions.opml")
    }
    return found
  }

  private var status: stat? {
    var status = stat()
    return stat(path, &status) == 0 ? status : nil
  }

  /// The file's time: when the episode was published, in seconds since 1970.
  var published: Int64? { status.map { Int64($0.st_mtim.tv_sec) } }

  /// Its number in the catalogue, by that of its node: titles may change. nil where it is no episode's.
  var row: Int64? {
    let node = status.map { NodeID(rawValue: UInt64($0.st_ino)) }
    return node?.kind == .episode ? node?.row : nil
  }

  /// The text of `user.podcastfs.NAME`; nil where it has none, as on other file systems.
  func attribute(_ name: String) throws -> String? {
    do throws(PosixError) {
      return try ExtendedAttributes.get("user.podcastfs." + name, of: path)
    } catch {
      if error.errno == .EOPNOTSUPP { return nil }
      throw CommandFailure("\(path): \(error.errno)")
    }
  }

  /// The same; nil also where none can be read.
  func text(_ name: String) -> String? { (try? attribute(name)) ?? nil }

  func set(_ name: String, to value: String) throws {
    do throws(PosixError) {
      try ExtendedAttributes.set("user.podcastfs." + name, of: path, to: value)
    } catch { throw CommandFailure("\(path): \(error.errno)") }
  }

  /// A download of which nothing is known.
  var unknown: TransferStatus {
    let name = String(path.split(separator: "/").last ?? "")
    return TransferStatus(TransferRequest(key: MediaKey(address: ""), fileName: name))
  }

  func progress() throws -> TransferStatus {
    guard let text = try attribute("state"), let state = TransferState(rawValue: text) else {
      throw CommandFailure("\(path): it no longer exists")
    }
    func number(_ name: String) throws -> Int64? { try attribute(name).flatMap { Int64($0) } }
    var status = unknown
    status.state = state
    (status.received, status.total) = (try number("bytes_received") ?? 0, try number("bytes_total"))
    (status.rate, status.eta) = (try number("rate"), try number("eta"))
    status.error = try attribute("error")
    return status
  }
}

/// A mount of the user: each shows the same.
enum UserMount {
  static func root() throws -> String {
    guard let root = MountServer.mountPoints(places: try Places()).first else {
      throw CommandFailure("nothing is mounted: first run podcastfs mount")
    }
    return root
  }

  /// The path that a word means: the word itself, where something is there or it is no subscription's name; else the folder
  /// of the subscription in a mount of the user.
  static func path(_ word: String) -> String {
    if Directories.exists(word) || word.contains("/") { return word }
    guard let session = try? CatalogSession(), let root = try? root() else { return word }
    let found = try? session.followed(word)
    return found.map { "\(root)/Subscriptions/\($0.name)" } ?? word
  }
}
