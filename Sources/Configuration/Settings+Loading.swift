internal import Glibc
internal import PosixKit

extension Settings {
  /// The settings in force: the defaults, then the configuration file where there is one, then the
  /// environment (`PODCASTFS_SEARCH_URL`), then the option lists, later ones over earlier ones.
  /// - Parameter options: the texts of all `-o`.
  /// - Returns: the settings, and the options that are for FUSE and mount(8).
  /// - Throws: `SettingsError` for an unknown key or a wrong value, with file and line.
  package static func load(
    file: String, environment: [String: String], options: [String] = []
  ) throws(SettingsError) -> (settings: Settings, mount: MountOptions) {
    var settings = Settings()
    if let text = try contents(file) { try settings.read(text, name: file) }
    if let address = environment["PODCASTFS_SEARCH_URL"], !address.isEmpty {
      _ = try settings.set("search_url", address)
    }
    settings.proxyVariables = environment.filter { Self.proxyNames.contains($0.key) }
    var mount = settings.mountOptions
    for option in options.flatMap({ OptionList($0).options }) {
      if try settings.set(option.key, option.value) { continue }
      if try !mount.take(option) {
        let keys = OptionHelp.all.filter { $0.place != .fileOnly }.map(\.key)
        // A key of the file only is not misspelt.
        let isKey = OptionHelp.all.contains { $0.key == option.key }
        let question = isKey ? "" : SimilarWord.question(option.key, among: keys)
        throw SettingsError("unknown option: \(option.key)\(question)")
      }
    }
    return (settings, mount)
  }

  /// How the environment names proxies (libcurl-env(3)). `HTTP_PROXY` is not among them: in a CGI the client sets it.
  private static let proxyNames: Set<String> = [
    "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
  ]

  private static func contents(_ file: String) throws(SettingsError) -> String? {
    do {
      // A fifo in its place must not block; /dev/null counts as an empty file.
      let opened = try FileDescriptor(opening: file, O_RDONLY | O_NONBLOCK | O_NOCTTY)
      let kind = try opened.status().st_mode & S_IFMT
      guard kind == S_IFREG || kind == S_IFCHR else {
        throw PosixError(.EINVAL, "open (not a regular file)", file)
      }
      return String(decoding: try Directories.read(file, limit: 1 << 20), as: UTF8.self)
    } catch let error as PosixError where error.errno == .ENOENT || error.errno == .ENOTDIR {
      return nil
    } catch {
      throw SettingsError("\(error)")
    }
  }
}
