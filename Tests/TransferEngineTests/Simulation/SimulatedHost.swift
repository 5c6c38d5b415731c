import PodcastModel
import TransferEngine

/// What a host does with the next requests for an episode.
enum HostMood: CaseIterable {
  case honest, slow, dead, stalls, cuts, busy, gone, forbidden, page, login, ignoresRange, shiftsRange,
    refusesRange
  case nonsensePart, withoutLength, withoutLengthByClose, withoutValidators, compresses, empty, moves, crawls
}

/// An episode as its host has it.
struct SimulatedEpisode {
  let number: Int
  /// The host that is asked, and the one that sends.
  let host: Int
  var sender: Int
  var version: SimulatedVersion
  var versions: [SimulatedVersion]
  var mood = HostMood.honest
  /// Whether its host never gives what is of no use.
  var isFair = false
  /// What has come of the present version and is not known to be lost; what has come twice, and what may.
  var delivered = ByteRanges()
  var again: Int64 = 0
  var mayComeAgain: Int64 = 0
  /// Requests, and bytes that they have brought, since somebody last did anything.
  var asked: Int64 = 0
  var brought: Int64 = 0
  /// When its host or its file last changed, and until when the host wants to be left alone.
  var troubled: Int64 = 0
  var forbiddenUntil: Int64 = 0
  /// Which address of the episode that was said of: another one may be asked.
  var forbidsFresh = false

  init(_ number: Int, host: Int, sender: Int, size: Int64) {
    self.number = number
    self.host = host
    self.sender = sender
    version = SimulatedVersion(episode: number, number: 0, size: size, shared: size / 20)
    versions = [version]
  }

  /// The eighth one is another file, as the dump of the offline directory is.
  var isEpisode: Bool { number != 7 }
  var url: String { "http://host\(host).example/\(number).mp3" }
  var finalURL: String { "http://host\(sender).example/\(number).mp3" }
  var key: MediaKey { MediaKey("\(String(repeating: "0", count: 24))\(String(10_000_000 + number))")! }

  mutating func replace(_ random: inout SplitMix) {
    let isSameSize = random.chance(1, 3)
    version = SimulatedVersion(
      episode: number, number: versions.count,
      size: isSameSize ? version.size : max(version.size + Int64(random.below(90_001)) - 45_000, 20_000) + 1,
      shared: min(version.shared, 40_000))
    versions.append(version)
    (delivered, again, mayComeAgain) = (ByteRanges(), 0, 0)
  }
}

extension SplitMix {
  mutating func below(_ bound: Int) -> Int { bound <= 1 ? 0 : Int(next() % UInt64(bound)) }
  mutating func chance(_ part: Int, _ whole: Int) -> Bool { below(whole) < part }
  mutating func pick<T>(_ list: [T]) -> T { list[below(list.count)] }
}

/// A response under way.
struct SimulatedResponse {
  let flow: FlowID
  let episode: Int
  let version: SimulatedVersion
  /// Of which byte the first one is; where the body ends; how far it has come.
  var start: Int64 = 0
  var end: Int64 = 0
  var at: Int64 = 0
  /// Bytes per second.
  var rate: Int64 = 1_000_000
  /// Where it breaks off, and how: with an error, silently, or as if it were the end.
  var breaksAt: Int64?
  var stalls = false
  var endsCleanly = false
  /// Bytes of it have this much in front of their place, by the engine's word.
  var shift: Int64 = 0
  var isHeld = false
  /// Whether nothing more comes of it.
  /// The host that sends it, once it has said so.
  var sender: Int?
  /// Since when nothing has come.
  var silentSince: Int64 = 0
}
