internal import Catalog
package import Configuration
internal import Glibc
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
    do {
      places = try Places(environment: environment)
    } catch {
      return ([.problem("\(error)", mend: "set the variable")], nil)
    }
    var findings: [Finding] = []
    if let note = runtimeDirectory(environment, places.runtime) { findings.append(note) }
    for (path, variable) in [
      (places.data, "XDG_DATA_HOME"), (places.state, "XDG_STATE_HOME"), (places.cache, "XDG_CACHE_HOME"),
      (places.runtime, "XDG_RUNTIME_DIR"),
    ] {
      findings.append(directory(path, variable))
    }
    findings.append(runtimeRoom(places.runtime))
    findings += [places.state, places.data].compactMap(storeRoom)
    findings.append(daemon(ChildProcess.find("podcastfs-transferd"), places))
    findings += daemonState(places.state)
    do {
      let settings = try Settings.load(file: places.configurationFile, environment: environment).settings
      let isThere = access(places.configurationFile, F_OK) == 0
      findings.append(
        isThere
          ? .fine("\(places.configurationFile) is valid")
          : .fine("no configuration file (\(places.configurationFile)): defaults are used"))
      let inForce = settingsInForce(settings, places, environment)
      findings.append(room(at: places.cache, minimum: inForce.map(\.minimumFree).max() ?? 0))
      if let finding = answeringDaemon(places, settings) { findings.append(finding) }
      let limit = inForce.map(\.catalogueSize).min() ?? settings.catalogueSize
      if let finding = catalogue("\(places.data)/catalog.sqlite", limit: limit) { findings.append(finding) }
      findings += feeds("\(places.data)/catalog.sqlite")
      return (findings, settings)
    } catch {
      findings.append(.problem("\(error)", mend: "correct that line"))
      return (findings, nil)
    }
  }

  /// Whether what is followed and known can be read; nil where there is nothing yet.
  /// - Parameter limit: bytes that it may have.
  package static func catalogue(_ path: String, limit: Int64) -> Finding? {
    switch CatalogCondition(ofFile: path) {
    case .missing: return nil
    case .sound:
      let size = HumanText.size(fileSize(path) ?? 0)
      return .fine("the catalogue has \(size) of \(HumanText.size(limit))")
    case .otherVersion(let version):
      return .note(
        "the catalogue is of version \(version), which this program does not read: it is set aside when it is next used"
      )
    case .obstructed(let why):
      return .problem(
        "the catalogue \(path) cannot be read: \(why)",
        mend: "move that file away: the catalogue itself is in the others")
    case .misplaced(let why):
      return .problem("the catalogue \(path) cannot be used: \(why)", mend: "nothing in it is damaged")
    case .unreadable(let why):
      return .problem(
        "the catalogue \(path) cannot be read: \(why)",
        mend: "restore it from a backup, or move it away and import a list of the subscriptions; what is "
          + "cached stays")
    }
  }

  /// What feeds of subscriptions have last failed with: a few of them.
  package static func feeds(_ path: String) -> [Finding] {
    let troubles = FeedTroubles.all(inFile: path)
    let shown = troubles.prefix(fewFeeds).map { trouble in
      Finding.note("\(PrintableText.line(trouble.name)): \(PrintableText.line(trouble.error))")
    }
    let rest = troubles.count - shown.count
    return rest == 0
      ? shown : shown + [.note("\(HumanText.count(rest, "feed")) more failed: podcastfs list shows them")]
  }

  private static let fewFeeds = 5

  /// The settings of each mount, by its options and the configuration file; the file's alone where nothing is mounted.
  private static func settingsInForce(
    _ settings: Settings, _ places: Places, _ environment: [String: String]
  ) -> [Settings] {
    let mounted = MountRecord.all(places: places).compactMap { mount in
      try? Settings.load(
        file: places.configurationFile, environment: environment, options: mount.options()
      ).settings
    }
    return mounted.isEmpty ? [settings] : mounted
  }

  private static func fileSize(_ path: String) -> Int64? {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_size) : nil
  }

  package static func directory(_ path: String, _ variable: String) -> Finding {
    do {
      try Directories.createPrivate(path)
    } catch {
      return .problem("\(error)", mend: "set \(variable) or HOME to a directory that you can write")
    }
    guard access(path, W_OK | X_OK) == 0 || Errno.current != .EACCES else {
      return .problem(
        "\(path) cannot be written", mend: "chmod u+rwx \(path), or set \(variable) to another directory")
    }
    // A disk may take nothing although its permissions allow it: full, failing, or remounted read-only after an error.
    let trial = path + "/doctor.tmp"
    do {
      try Directories.replace(trial, with: [UInt8](repeating: 0, count: 4096))
      try retrying("delete", trial) { unlink(trial) }
    } catch {
      unlink(trial)
      return .problem(
        "\(path) cannot be written: \((error as? PosixError)?.errno.description ?? "\(error)")",
        mend: "look at the disk (df, dmesg), or set \(variable) to a directory on another one")
    }
    return .fine("\(path) can be written")
  }

  /// Without it, the socket's place does not survive a cleaned temporary directory.
  package static func runtimeDirectory(_ environment: [String: String], _ used: String) -> Finding? {
    if Places.runtimeDirectory(environment) != nil { return nil }
    let isSet = environment["XDG_RUNTIME_DIR"]?.hasPrefix("/") == true
    return .note("XDG_RUNTIME_DIR is \(isSet ? "another user's" : "not set"): \(used) is used")
  }

  package static func daemon(_ path: String?) -> Finding {
    path.map { .fine("\($0) is there") }
      ?? .problem(
        "podcastfs-transferd is not installed", mend: "put it beside podcastfs, or into a directory of PATH")
  }

  /// Starts it as a mount does, in places of its own, and looks whether it comes up.
  static func daemon(_ path: String?, _ places: Places) -> Finding {
    guard let path else { return daemon(nil) }
    let trial = places.runtime + "/doctor"
    Directories.removeTree(trial)
    defer { Directories.removeTree(trial) }
    let arguments = ["--state", trial, "--cache", trial + "/cache", "--runtime", trial, "--idle", "1"]
    guard let child = try? ChildProcess.start(path, arguments) else {
      return .problem("\(path) cannot be started", mend: "install podcastfs again")
    }
    let deadline = MonotonicTime.after(5)
    var isUp = false
    var hasEnded = false
    while !isUp && !hasEnded && .now < deadline {
      isUp = access(trial + "/transferd.sock", F_OK) == 0
      hasEnded = ChildProcess.reap(child) != nil
      if !isUp { usleep(5_000) }
    }
    if !hasEnded {
      kill(child, SIGTERM)
      _ = try? ChildProcess.wait(child)
    }
    if isUp { return .fine("\(path) starts") }
    return .problem(
      "\(path) does not start",
      mend: "run it by hand: \(path) --state \(trial) --cache \(trial)/cache --runtime \(trial)")
  }

  /// What is here of each episode is told in shared memory there.
  package static func runtimeRoom(_ path: String) -> Finding {
    let least: Int64 = 1 << 20
    guard let left = DiskSpace.available(at: path) else { return .note("the room in \(path) is not known") }
    if left < least {
      return .problem(
        "only \(HumanText.size(left)) are free in \(path): downloads cannot begin",
        mend: "delete what is not needed there, or make it larger (it usually is a tmpfs)")
    }
    return .fine("\(HumanText.size(left)) are free in \(path)")
  }

  /// Where orders and marks can't be remembered any more.
  package static func storeRoom(_ path: String) -> Finding? {
    guard let left = DiskSpace.available(at: path), left < 1 << 20 else { return nil }
    return .problem(
      "only \(HumanText.size(left)) are free in \(path): nothing can be saved",
      mend: "delete what is not needed on that disk, or make it larger")
  }

  /// Why what answers in the daemon's place does not serve; nil where it does, or nothing answers.
  package static func answeringDaemon(_ places: Places, _ settings: Settings) -> Finding? {
    // None is started for this.
    guard DaemonPlace.connect(in: places.state) != nil,
      let client = try? TransferClient(places: places, settings: settings, isMount: false)
    else { return nil }
    defer { client.stop() }
    client.waitUntilCurrent(until: .after(5))
    return client.failure.map { .problem($0, mend: "then open an episode again") }
  }

  /// Whether the daemon could start, and read what it remembers.
  package static func daemonState(_ state: String) -> [Finding] {
    var findings: [Finding] = []
    if let why = DaemonPlace.failure(in: state) {
      findings.append(
        .problem("the transfer daemon could not start: \(why)", mend: "fix that, then open an episode again")
      )
    }
    switch TransferStore.condition(in: state) {
    case .missing: break
    case .sound: findings.append(.fine("the store of downloads is sound"))
    case .unreadable(let why):
      findings.append(
        .problem(
          "the store of downloads cannot be read: \(why)",
          mend:
            "none is needed: the transfer daemon sets it aside and continues with what is in the cache"))
    }
    let damaged = TransferStore.damagedName(in: state)
    if access(damaged, F_OK) == 0 {
      findings.append(
        .note(
          "a damaged store of downloads was set aside as \(damaged); downloads in the cache were found again")
      )
    }
    for path in TransferStore.strangersAside(in: state) {
      findings.append(
        .note("what was in the place of a file of the store of downloads was set aside as \(path)"))
    }
    return findings
  }

  /// Whether the cache may grow at all.
  /// - Parameter minimum: bytes that stay free (`min_free`).
  package static func room(at cache: String, minimum: Int64) -> Finding {
    guard let left = DiskSpace.available(at: cache) else {
      return .note("the room in \(cache) is not known")
    }
    if left <= minimum {
      let free = HumanText.size(left)
      return .problem(
        "only \(free) are free for \(cache); min_free keeps \(HumanText.size(minimum))",
        mend: "make room, or set min_free lower")
    }
    return .fine("\(HumanText.size(left)) are free for \(cache)")
  }
}
