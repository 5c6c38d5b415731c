internal import Catalog
package import Configuration
internal import Glibc
internal import MountService
internal import PodcastModel
internal import PosixKit
internal import TransferClient
internal import TransferProtocol
internal import TransferStore

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
    let findings =
      [runtimeDirectory(environment, places.runtime)].compactMap(\.self) + folders.map(directory)
      + [daemon(ChildProcess.find("podcastfs-transferd"))] + daemonState(places.state)
    let file = places.configurationFile
    do {
      let settings = try Settings.load(file: file, environment: environment).settings
      // Those of each mount, by its options and the configuration file.
      let mounted = MountServer.all(places: places).compactMap { server -> Settings? in
        var words = ArgumentList(server.process.map(Processes.arguments) ?? [])
        let options = try? words.takeValues("-o")
        return try? Settings.load(file: file, environment: environment, options: options ?? []).settings
      }
      let inForce = mounted.isEmpty ? [settings] : mounted
      let (least, catalog) = (inForce.map(\.minimumFree).max() ?? 0, "\(places.data)/catalog.sqlite")
      let more: [Finding?] = [
        .fine(file + (Directories.exists(file) ? " is valid" : " does not exist: the defaults are used")),
        room(in: places.cache, least: least, without: "min_free keeps \(HumanText.size(least))"),
        room(in: places.runtime, least: 1 << 20, without: "downloads cannot begin"),
        answeringDaemon(places, settings),
        catalogue(catalog, limit: inForce.map(\.catalogueSize).min() ?? 0),
      ]
      return (findings + more.compactMap(\.self), settings)
    } catch {
      return (findings + [.problem("\(error)", fix: "correct that line")], nil)
    }
  }

  /// Whether the catalogue can be read; nil where there is none yet.
  /// - Parameter limit: bytes that it may have.
  package static func catalogue(_ path: String, limit: Int64) -> Finding? {
    let unreadable = "the catalogue \(path) cannot be read"
    switch CatalogCondition(ofFile: path) {
    case .missing: return nil
    case .sound:
      var status = stat()
      let size = stat(path, &status) == 0 ? Int64(status.st_size) : 0
      return .fine("the catalogue uses \(HumanText.size(size)) of \(HumanText.size(limit))")
    case .otherVersion(let version):
      return .note("the catalogue is of version \(version), which this program cannot read: it is set aside")
    case .obstructed(let why):
      return .problem(
        "\(unreadable): \(why)", fix: "move that file away: the catalogue itself is in the others")
    case .misplaced(let why): return .problem("\(unreadable): \(why)", fix: "nothing in it is damaged")
    case .unreadable(let why):
      return .problem(
        "\(unreadable): \(why)",
        fix:
          "restore it from a backup, or move it away: the subscriptions come back from subscriptions.opml beside it"
      )
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

  /// Without it, the socket's place does not survive a cleaned temporary directory.
  private static func runtimeDirectory(_ environment: [String: String], _ used: String) -> Finding? {
    if Places.runtimeDirectory(environment) != nil { return nil }
    let isSet = environment["XDG_RUNTIME_DIR"]?.hasPrefix("/") == true
    return .note("XDG_RUNTIME_DIR is \(isSet ? "another user's" : "not set"): \(used) is used")
  }

  private static func room(in path: String, least: Int64, without: String) -> Finding {
    guard let left = DiskSpace.available(at: path) else {
      return .note("cannot tell how much room is in \(path)")
    }
    let size = HumanText.size(left)
    return .check(
      left > least, "\(size) free in \(path)",
      or: "only \(size) free in \(path): \(without)",
      fix:
        "delete what is not needed on that disk, or make it larger; min_free says what the cache leaves free")
  }

  private static func daemon(_ path: String?) -> Finding {
    guard let path else {
      return .problem(
        "podcastfs-transferd is not installed", fix: "put it beside podcastfs, or in a directory of PATH")
    }
    return .check(
      // EX_USAGE: it has started, and was called without what it needs.
      (try? ChildProcess.run([path, "--help"])).map { [0, 64].contains($0.status) } ?? false,
      "\(path) starts", or: "\(path) does not start",
      fix: "run it by hand, then install podcastfs again")
  }

  /// Why the process that holds the daemon's lock does not serve; nil where it serves, or there is none.
  package static func answeringDaemon(_ places: Places, _ settings: Settings) -> Finding? {
    // None is started for this.
    guard let socket = DaemonPlace.connect(in: places.state),
      let client = try? TransferClient(places: places, settings: settings, isMount: false)
    else { return nil }
    defer { client.stop() }
    let hasAnswered = client.waitUntilCurrent(until: .after(5))
    if let failure = client.failure { return .problem(failure, fix: "then open an episode again") }
    if hasAnswered { return nil }
    let process = (try? UnixSocket.peer(of: socket.rawValue).process) ?? 0
    return .problem(
      "process \(process) holds the transfer daemon's lock, but does not answer",
      fix: "stop it: kill \(process)")
  }

  /// Whether the daemon could start, and can read its store.
  private static func daemonState(_ state: String) -> [Finding] {
    let damaged = TransferStore.damagedName(in: state)
    let findings: [Finding?] = [
      DaemonPlace.failure(in: state).map {
        .problem("the transfer daemon could not start: \($0)", fix: "fix that, then open an episode again")
      },
      store(state),
      Directories.exists(damaged)
        ? .note(
          "the damaged database of downloads is now \(damaged); podcastfs looks for its downloads in the cache"
        ) : nil,
    ]
    return findings.compactMap(\.self)
  }

  private static func store(_ state: String) -> Finding? {
    if let why = TransferStore.problem(in: state) {
      return .problem(
        "the database of downloads cannot be read: \(why)",
        fix: "none needed: the transfer daemon sets it aside and continues with what is in the cache")
    }
    return Directories.exists(TransferStore.path(in: state))
      ? .fine("the database of downloads is intact") : nil
  }
}
