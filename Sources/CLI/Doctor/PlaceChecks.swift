internal import Catalog
package import Configuration
internal import Glibc
internal import PodcastModel
internal import PosixKit
internal import TransferClient
internal import TransferProtocol

/// Whether podcastfs has room and rights where it keeps things, and its own other half.
package enum PlaceChecks {
  /// - Parameter environment: the process's.
  /// - Returns: the findings, and the settings where they can be read.
  package static func all(environment: [String: String]) -> (findings: [Finding], settings: Settings?) {
    let places: Places
    do { places = try Places(environment: environment) } catch {
      return ([.problem("\(error)", fix: "set the variable")], nil)
    }
    let folders = [
      (places.data, "XDG_DATA_HOME"), (places.state, "XDG_STATE_HOME"), (places.cache, "XDG_CACHE_HOME"),
      (places.runtime, "XDG_RUNTIME_DIR"),
    ]
    let nothingSaved = "nothing can be saved"
    let findings =
      folders.map(directory) + [room(in: places.runtime, least: leastRoom, without: "downloads cannot begin")]
      + [places.state, places.data].map { room(in: $0, least: leastRoom, without: nothingSaved) }.filter(
        \.isProblem)
      + daemon(places.state)
    do {
      let settings = try Settings.load(file: places.configurationFile, environment: environment).settings
      return (findings + configured(settings, places), settings)
    } catch {
      return (findings + [.problem("\(error)", fix: "correct that line")], nil)
    }
  }

  private static func configured(_ settings: Settings, _ places: Places) -> [Finding] {
    let isThere = Directories.exists(places.configurationFile)
    let least = settings.minimumFree
    let findings: [Finding?] = [
      .fine(
        places.configurationFile + (isThere ? " is valid" : " does not exist: the defaults are used")),
      room(in: places.cache, least: least + 1, without: "min_free keeps \(HumanText.size(least))"),
      answeringDaemon(places, settings), catalogue("\(places.data)/catalog.sqlite"),
    ]
    return findings.compactMap(\.self)
  }

  /// Whether the catalogue can be read; nil where there is none yet.
  package static func catalogue(_ path: String) -> Finding? {
    func problem(_ why: String, fix: String) -> Finding {
      .problem("the catalogue \(path) cannot be read: \(why)", fix: fix)
    }
    switch CatalogCondition(ofFile: path) {
    case .missing: return nil
    case .sound: return .fine("the catalogue is intact")
    case .otherVersion(let version):
      return .note(
        "the catalogue is of version \(version), which this program cannot read: the next command sets it aside"
      )
    case .obstructed(let why):
      return problem(why, fix: "move that file away: the catalogue itself is in the others")
    case .misplaced(let why): return problem(why, fix: "nothing in it is damaged")
    case .unreadable(let why):
      return problem(
        why,
        fix: "restore it from a backup, or move it away: the subscriptions come back from "
          + "subscriptions.opml beside it, and what is cached stays")
    }
  }

  package static func directory(_ path: String, _ variable: String) -> Finding {
    do { try Directories.createPrivate(path) } catch {
      return .problem("\(error)", fix: "set \(variable) or HOME to a directory that you can write")
    }
    guard access(path, W_OK | X_OK) == 0 || Errno.current != .EACCES else {
      return .problem(
        "\(path) cannot be written", fix: "chmod u+rwx \(path), or set \(variable) to another directory")
    }
    // A disk may take nothing although its permissions allow it: full, failing, or remounted read-only after an error.
    let trial = path + "/doctor.tmp"
    defer { unlink(trial) }
    do {
      try Directories.replace(trial, with: [UInt8](repeating: 0, count: 4096))
    } catch {
      return .problem(
        "\(path) cannot be written: \((error as? PosixError)?.errno.description ?? "\(error)")",
        fix: "look at the disk (df, dmesg), or set \(variable) to a directory on another one")
    }
    return .fine("\(path) can be written")
  }

  /// Bytes that a live map or a commit may take.
  private static let leastRoom: Int64 = 1 << 20

  private static func room(in path: String, least: Int64, without: String) -> Finding {
    guard let left = DiskSpace.available(at: path) else {
      return .note("cannot tell how much room is in \(path)")
    }
    let size = HumanText.size(left)
    return .check(
      left >= least, "\(size) free in \(path)", or: "only \(size) free in \(path): \(without)",
      fix:
        "delete what is not needed on that disk, or make it larger; min_free says what the cache leaves free")
  }

  /// Why the process that holds the daemon's lock does not serve; nil where it serves, or there is none.
  package static func answeringDaemon(_ places: Places, _ settings: Settings) -> Finding? {
    // None is started for this.
    guard let socket = DaemonPlace.connect(in: places.state),
      let client = try? TransferClient(places: places, settings: settings, isMount: false)
    else { return nil }
    defer { client.stop() }
    client.waitUntilCurrent(until: .after(5))
    if let failure = client.failure { return .problem(failure, fix: "then open an episode again") }
    if client.isServed { return nil }
    let process = (try? UnixSocket.peer(of: socket.rawValue).process) ?? 0
    return .problem(
      "process \(process) holds the transfer daemon's lock, but does not answer",
      fix: "stop it: kill \(process)")
  }

  /// Whether the daemon is installed, and could start the last time.
  private static func daemon(_ state: String) -> [Finding] {
    guard let path = ChildProcess.find("podcastfs-transferd") else {
      return [
        .problem(
          "podcastfs-transferd is not installed", fix: "put it beside podcastfs, or in a directory of PATH")
      ]
    }
    guard let why = DaemonPlace.failure(in: state) else { return [.fine("\(path) is installed")] }
    return [
      .problem(
        "the transfer daemon could not start: \(why)", fix: "fix that, then open an episode again")
    ]
  }
}
