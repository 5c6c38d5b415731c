internal import Glibc
internal import PosixKit
internal import TransferProtocol

/// An episode's file in a mount, seen and steered by its attributes, as any program can.
struct MountedEpisode {
  let path: String

  /// The episodes that a path means: the file itself, or those directly in a directory, the newest first.
  /// - Throws: `CommandFailure` where the path is nothing of a mount.
  static func all(at path: String) throws -> [MountedEpisode] {
    var status = stat()
    guard stat(path, &status) == 0 else { throw CommandFailure("\(path): \(Errno.current)") }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      let episode = MountedEpisode(path: path)
      guard try episode.attribute("state") != nil else {
        throw CommandFailure("\(path): not an episode in a mount of podcastfs")
      }
      return [episode]
    }
    let names: [String]
    do { names = try Directories.names(in: path).sorted(by: >) } catch { throw CommandFailure("\(error)") }
    let base = path.hasSuffix("/") ? path : path + "/"
    let episodes = try names.map { MountedEpisode(path: base + $0) }.filter {
      try $0.attribute("state") != nil
    }
    if episodes.isEmpty { throw CommandFailure("\(path): there are no episodes in this directory") }
    return episodes
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

  /// Sets the attribute `state`.
  func set(_ state: TransferState) throws {
    do throws(PosixError) {
      try ExtendedAttributes.set("user.podcastfs.state", of: path, to: state.name)
    } catch {
      throw CommandFailure("\(path): \(error.errno)")
    }
  }

  /// What its attributes say now.
  func progress() throws -> ProgressLine {
    guard let text = try attribute("state"), let state = TransferState(name: text) else {
      throw CommandFailure("\(path): it is no longer there")
    }
    func number(_ name: String) throws -> Int64? { try attribute(name).flatMap { Int64($0) } }
    var line = ProgressLine(
      name: String(path.split(separator: "/").last ?? ""), state: state,
      received: try number("bytes_received") ?? 0, total: try number("bytes_total"))
    line.rate = try number("rate")
    line.eta = try number("eta")
    line.error = try attribute("error")
    return line
  }
}
