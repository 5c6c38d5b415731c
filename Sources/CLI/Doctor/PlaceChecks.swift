internal import Catalog
package import Configuration
internal import Directory
internal import FeedKit
internal import Glibc
internal import HTTPKit
internal import MountService
internal import PodcastModel
internal import PosixKit
internal import Sync
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
    let file = places.configurationFile
    var findings: [Finding?] = [
      directory(places.data, "XDG_DATA_HOME"), directory(places.state, "XDG_STATE_HOME"),
      directory(places.cache, "XDG_CACHE_HOME"), directory(places.runtime, "XDG_RUNTIME_DIR"),
      daemon(ChildProcess.find("podcastfs-transferd")),
      DaemonPlace.failure(in: places.state).map {
        .problem("the transfer daemon could not start: \($0)", fix: "fix that, then open an episode again")
      },
      store(places.state),
    ]
    var settings: Settings?
    do {
      let loaded = try Settings.load(file: file, environment: environment).settings
      settings = loaded
      // Those of each mount, by its options and the configuration file.
      let mounted = MountServer.all(places: places).compactMap { server -> Settings? in
        var words = ArgumentList(server.process.map(Processes.arguments) ?? [])
        let options = try? words.takeValues("-o")
        return try? Settings.load(file: file, environment: environment, options: options ?? []).settings
      }
      let inForce = mounted.isEmpty ? [loaded] : mounted
      let least = inForce.map(\.minimumFree).max() ?? 0
      findings += [
        .fine(file + (Directories.exists(file) ? " is valid" : " does not exist: the defaults are used")),
        room(in: places.cache, least: least, without: "min_free keeps \(HumanText.size(least))"),
        room(in: places.runtime, least: 1 << 20, without: "downloads cannot begin"),
        answeringDaemon(places, loaded),
        catalogue("\(places.data)/catalog.sqlite", limit: inForce.map(\.catalogueSize).min() ?? 0),
      ]
    } catch { findings.append(.problem("\(error)", fix: "correct that line")) }
    return (findings.compactMap(\.self), settings)
  }

  /// Whether the catalogue can be read; nil where there is none yet.
  /// - Parameter limit: bytes that it may have.
  package static func catalogue(_ path: String, limit: Int64) -> Finding? {
    func unreadable(_ why: String, fix: String) -> Finding {
      .problem("the catalogue \(path) cannot be read: \(why)", fix: fix)
    }
    switch CatalogCondition(ofFile: path) {
    case .missing: return nil
    case .sound:
      var status = stat()
      let size = stat(path, &status) == 0 ? Int64(status.st_size) : 0
      return .fine("the catalogue uses \(HumanText.size(size)) of \(HumanText.size(limit))")
    case .otherVersion(let version):
      return .note("the catalogue is of version \(version), which this program cannot read: it is set aside")
    case .obstructed(let why):
      return unreadable(why, fix: "move that file away: the catalogue itself is in the others")
    case .misplaced(let why): return unreadable(why, fix: "nothing in it is damaged")
    case .unreadable(let why):
      return unreadable(
        why,
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
    do { try Directories.replace(trial, with: [UInt8](repeating: 0, count: 4096)) } catch {
      return .problem(
        "\(path) cannot be written: \((error as? PosixError)?.errno.description ?? "\(error)")",
        fix: "look at the disk (df, dmesg), or set \(variable) to a directory on another one")
    }
    return .fine("\(path) can be written")
  }

  private static func room(in path: String, least: Int64, without: String) -> Finding {
    guard let left = DiskSpace.available(at: path) else {
      return .note("cannot tell how much room is in \(path)")
    }
    let size = HumanText.size(left)
    if left > least { return .fine("\(size) free in \(path)") }
    return .problem(
      "only \(size) free in \(path): \(without)",
      fix:
        "delete what is not needed on that disk, or make it larger; min_free says what the cache leaves free")
  }

  private static func daemon(_ path: String?) -> Finding {
    guard let path else {
      return .problem(
        "podcastfs-transferd is not installed", fix: "put it beside podcastfs, or in a directory of PATH")
    }
    // EX_USAGE: it has started, and was called without what it needs.
    if let outcome = try? ChildProcess.run([path, "--help"]), [0, 64].contains(outcome.status) {
      return .fine("\(path) starts")
    }
    return .problem("\(path) does not start", fix: "run it by hand, then install podcastfs again")
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

/// Whether the offline directory can be read, synchronization works, and the search service answers.
package enum ServiceChecks {
  /// Searches go on without a damaged directory, or one that is not installed.
  static func directory(_ places: Places, _ settings: Settings) -> [Finding] {
    let directory = PodcastDirectory(place: DirectoryPlace(settings, places))
    guard directory.isInstalled else { return [] }
    do throws(DirectoryError) {
      return [.fine("the offline directory has \(DirectoryWork.text(try directory.facts()))")]
    } catch { return [.problem("the offline directory: \(error.message)", fix: "podcastfs directory fetch")] }
  }

  /// Where it is configured. The server is not asked: the last synchronization tells.
  static func synchronization(_ places: Places, _ settings: Settings) -> [Finding] {
    guard let sync = settings.sync else { return [] }
    let host = WebAddress(sync.url).host ?? sync.url
    guard sync.user != nil, sync.password != nil || sync.passwordCommand != nil else {
      let fix = "add user and password to it, or run podcastfs sync login \(sync.url)"
      return [.problem("the section of \(host) has no user or no password", fix: fix)]
    }
    var (findings, file, status) = ([last(sync, host)], places.configurationFile, stat())
    if sync.password != nil, stat(file, &status) == 0, status.st_mode & 0o077 != 0 {
      findings.append(.problem("other users can read the password in \(file)", fix: "chmod 600 \(file)"))
    }
    return findings
  }

  private static func last(_ sync: SyncSettings, _ host: String) -> Finding {
    do {
      guard let status = try SyncStatus(CatalogSession().catalog, sync),
        status.last != nil || status.error != nil
      else { return .note("not synchronized with \(host) yet: run podcastfs sync") }
      if let error = status.error {
        return .problem(
          "synchronization: \(error)", fix: "correct the [sync] section, then run podcastfs sync")
      }
      let last = status.last.map { CivilTime.iso8601($0) } ?? "never"
      let pending = HumanText.count(status.pending, "change")
      return .fine("synchronized with \(host) at \(last), \(pending) to upload")
    } catch { return .problem("synchronization: \(error)", fix: "see the other lines of podcastfs doctor") }
  }

  package static func search(_ settings: Settings) -> Finding {
    let address = settings.searchURL ?? Settings.appleSearchURL
    var request = HTTPRequest(
      url: address + (address.contains("?") ? "&" : "?") + "term=podcast&media=podcast&limit=1", settings)
    request.allowsPrivateHosts = true
    request.connectTimeout = min(settings.connectTimeout, 10)
    request.totalTimeout = 15
    request.maximumBody = 1 << 20
    let host = WebAddress(address).host ?? address
    let service = "the search service at \(host)"
    let fix = "check the network (and http_proxy), or set search_url to a service that can be reached"
    switch Waiting.answer(to: request, within: 20) {
    case .failure(let error): return .problem("the search service: \(error)", fix: fix)
    case nil: return .problem("\(service) does not answer", fix: fix)
    case .success(let response):
      switch response.head.status {
      case 200 where (try? AppleAnswer(response.body)) != nil: return .fine("\(service) answers")
      case 200:
        return .problem(
          "the answer of \(host) is not a list of podcasts",
          fix: "set search_url to a service with Apple's format")
      case 403, 429: return .note("\(service) asks to wait (HTTP \(response.head.status))")
      case let status: return .problem("\(service) answers with HTTP \(status)", fix: fix)
      }
    }
  }
}
