internal import Configuration
internal import PodcastModel
internal import PosixKit

enum LimitCommand: Command {
  static let usage = """
    podcastfs limit [--json] [RATE]

    Shows or sets the rate that all background downloads share, until the mount is unmounted: bytes per second, or a number
    with K, M or G. 0: no limit.
    """

  static func run(_ arguments: inout ArgumentList) throws {
    let operands = try arguments.operands()
    let root = try UserMount.root()
    if let rate = operands.first {
      guard Settings.rate(rate) != nil else {
        throw UsageError("\(PrintableText.line(rate)) is not a rate: 500K, 2M, or 0 for no limit")
      }
      try ExtendedAttributes.set("user.podcastfs.limit_rate", of: root, to: rate)
    }
    let rate = try ExtendedAttributes.get("user.podcastfs.limit_rate", of: root).flatMap { Int64($0) } ?? 0
    let isPaused = try ExtendedAttributes.get("user.podcastfs.paused", of: root) == "1"
    StandardStreams.show(.members(["limit_rate": rate, "paused": isPaused])) {
      if operands.isEmpty { StandardStreams.print(rate == 0 ? "no limit" : "\(HumanText.size(rate))/s") }
    }
  }
}
