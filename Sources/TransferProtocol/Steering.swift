internal import Glibc
internal import PosixKit

/// What the user has said of all background downloads, until the last of his mounts is unmounted.
package struct Steering: Hashable, Sendable {
  /// Bytes per second, 0 for no bound; nil for what the options say.
  package var limitRate: Int64?
  package var isPaused = false

  package init() {}

  private static func file(runtime: String) -> String { runtime + "/steering" }

  /// All mounts of the user share it.
  package init(runtime: String) {
    guard let bytes = try? Directories.readRegular(Self.file(runtime: runtime), limit: 256) else { return }
    let words = String(decoding: bytes, as: UTF8.self).split(separator: " ")
    limitRate = words.first.flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    isPaused = words.contains("paused")
  }

  /// - Throws: `PosixError` where it cannot be written.
  package func store(runtime: String) throws {
    if self == Steering() {
      unlink(Self.file(runtime: runtime))
      return
    }
    let text = (limitRate.map { "\($0)" } ?? "-") + (isPaused ? " paused" : "")
    try Directories.replace(Self.file(runtime: runtime), with: Array(text.utf8), outlivesPower: false)
  }

  /// The options as they are with it.
  package func applied(to settings: TransferSettings) -> TransferSettings {
    var settings = settings
    if let limitRate { settings.limitRate = limitRate == 0 ? nil : limitRate }
    settings.isPaused = isPaused
    return settings
  }
}
