internal import Catalog
internal import Configuration
internal import FeedKit
internal import Glibc
internal import HTTPKit
internal import PodcastModel
internal import PodcastTree
internal import PosixKit
internal import TransferClient
internal import TransferProtocol

/// The catalogue as a command uses it: opened by the user's configuration, its waits made plain calls.
struct CatalogSession: Sendable {
  private static let opened = Monitor<[Catalog]>([])
  let places: Places
  let settings: Settings
  let http: HTTPClient
  let catalog: Catalog

  /// - Parameter options: the command's own, such as `--country`, as options of a mount.
  init(options: [String] = []) throws {
    (places, settings) = try CommandSettings.load(options: options)
    try places.create()
    http = HTTPClient(name: "catalog-http")
    catalog = try Catalog(places: places, settings: settings, http: http, feedReader: .program())
    if let note = catalog.takeNote() { StandardStreams.complain(note) }
    Self.opened.withLock { [catalog] in $0.append(catalog) }
  }

  /// Ends all sessions: waits for the further pages of refreshed feeds, and has each catalogue write all that it has.
  static func settle() {
    for catalog in opened.withLock({ $0 }) {
      catalog.waitForRefreshes(seconds: 600)
      catalog.close()
      // Damage that was met on the way.
      if let note = catalog.takeNote() { StandardStreams.complain(note) }
    }
  }

  /// How far all downloads are, as the daemon says, or the last one has said.
  func statuses() throws -> [MediaKey: TransferStatus] {
    let client = try TransferClient(places: places, settings: settings, isMount: false)
    defer { client.stop() }
    client.waitUntilCurrent(until: .after(2))
    return Dictionary(client.allStatuses().map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
  }

  func reportMissing(_ podcasts: [(name: String, id: Int64)]) throws {
    catalog.waitForRefreshes(seconds: 600)
    for podcast in podcasts {
      guard let missing = try catalog.missingPages(ofPodcast: podcast.id) else { continue }
      StandardStreams.complain("\(podcast.name): \(missing)")
    }
  }

  /// Waits for an operation of the catalogue. Each has a bound of its own; this one is for errors of this program.
  func wait<Value: Sendable>(
    _ start: (@escaping @Sendable (Result<Value, CatalogError>) -> Void) -> any Cancellable
  ) throws -> Value {
    guard let result = Waiting.result(within: 300, start) else {
      throw CommandFailure("no answer within five minutes")
    }
    return try result.get()
  }

  func subscription(ofPodcast podcast: Int64) throws -> ListedPodcast? {
    try catalog.subscriptions().first { $0.podcast.id == podcast }
  }

  /// Follows the podcast at an address.
  /// - Parameter isTyped: by the user: it may be on a private network.
  /// - Returns: its subscription; one that is followed already is as good.
  func follow(_ address: String, isTyped: Bool) throws -> ListedPodcast {
    do {
      return try wait { catalog.subscribe(address: address, isTyped: isTyped, completion: $0) }
    } catch let error as CatalogError where error.errno == .EEXIST {
      let known = try catalog.subscriptions().first { error == .alreadyFollowed($0.name) }
      guard let known else { throw error }
      guard isTyped, known.podcast.lastRefresh == nil else { return known }
      // A list named this feed, so no request was allowed until a person typed its address.
      do {
        _ = try wait { catalog.refresh(podcast: known.podcast.id, cause: .forced, completion: $0) }
      } catch { StandardStreams.complain("\(known.name): \(error)") }
      return try catalog.subscription(known.id) ?? known
    }
  }

  /// Follows the podcast of a folder in a mount, without the network where a search shows it.
  /// - Returns: its subscription; nil where the path is no podcast's folder.
  func follow(folderAt path: String) throws -> ListedPodcast? {
    guard MountedFile(path: path).text("feed_url") != nil else { return nil }
    let podcast = try podcast(at: path)
    if let known = try subscription(ofPodcast: podcast) { return known }
    if let node = try node(at: path, with: "title", "a podcast"), node.kind == .result {
      return try catalog.subscribe(result: node.row)
    }
    return try catalog.podcast(podcast).map { try follow($0.feedURL.forRequest, isTyped: false) }
  }

  /// A subscription by its folder's name, its feed's address or its podcast's title.
  func followed(_ name: String) throws -> ListedPodcast? {
    let subscriptions = try catalog.subscriptions()
    if let listed = subscriptions.first(where: { $0.name == name }) { return listed }
    if name.contains("://"), let listed = try catalog.subscription(feedURL: name) { return listed }
    let titled = subscriptions.filter { $0.podcast.title.lowercased() == name.lowercased() }
    guard titled.count <= 1 else {
      let names = titled.map { "\"\($0.name)\"" }.joined(separator: " or ")
      throw CommandFailure("several podcasts are called \"\(name)\": name the folder \(names)")
    }
    return titled.first
  }

  /// A podcast that is in the catalogue, followed or not: as `followed` finds it, by its folder's name in `Downloaded/`,
  /// or by a folder's path in a mount.
  /// - Parameter takesEpisodes: whether the path of an episode means its podcast.
  func knownPodcast(_ name: String, takesEpisodes: Bool = false) throws -> Int64 {
    if let listed = try followed(name) { return listed.podcast.id }
    if name.contains("://"), let podcast = try catalog.podcast(feedURL: name) { return podcast.id }
    for folder in [name, EpisodeName.directoryName(title: name)] {
      if let podcast = try catalog.podcast(named: folder) { return podcast.id }
    }
    guard name.hasPrefix("/") || Directories.exists(name) else {
      let path = name.contains("/") && !name.contains("://") ? ", and nothing at that path" : ""
      throw CommandFailure("there is no podcast called \"\(WebAddress(name).shown)\"\(path)")
    }
    let status = try MountedFile.status(at: name)
    guard takesEpisodes || status.st_mode & S_IFMT == S_IFDIR else {
      throw CommandFailure("\(name): not a podcast's folder")
    }
    return try podcast(at: name)
  }

  /// The node at a path in a mount of this catalogue; nil where nothing is there.
  /// - Parameter attribute: that it must have to be `kind`.
  func node(at path: String, with attribute: String, _ kind: String) throws -> NodeID? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    guard MountedFile(path: path).text(attribute) != nil else {
      throw CommandFailure("\(path): not \(kind) in a podcastfs mount")
    }
    try MountOwner.check([path], places: places)
    return NodeID(rawValue: UInt64(status.st_ino))
  }

  /// The podcast that a path in a mount shows or belongs to, by the number of its node.
  private func podcast(at path: String) throws -> Int64 {
    let node = try node(at: path, with: "title", "a podcast or episode")
    let row = node?.row ?? 0
    let podcast =
      switch node?.kind {
      case .downloadedPodcast: row as Int64?
      case .episode: try catalog.episode(row)?.podcastID
      case .subscription: try catalog.subscription(row)?.podcast.id
      case .result: try catalog.result(row)?.podcast.id
      default: nil as Int64?
      }
    guard let podcast else { throw CommandFailure("\(path): not a podcast in a podcastfs mount") }
    return podcast
  }
}

extension Waiting {
  /// The answer to one request; nil where none came within so many seconds.
  static func answer(to request: HTTPRequest, within seconds: Double) -> Result<HTTPResponse, HTTPError>? {
    let client = HTTPClient(name: "command-http")
    defer { client.stop() }
    return result(within: seconds) { client.fetch(request, completion: $0) }
  }
}

/// The user's settings, for commands that take no options of a mount.
enum CommandSettings {
  /// - Throws: `UsageError` for options that cannot be used.
  static func load(options: [String] = []) throws -> (places: Places, settings: Settings) {
    do { _ = try Settings.load(file: "/dev/null", environment: [:], options: options) } catch {
      throw UsageError("\(error)")
    }
    let places = try Places()
    let loaded = try Settings.load(
      file: places.configurationFile, environment: Places.processEnvironment, options: options)
    return (places, loaded.settings)
  }
}
