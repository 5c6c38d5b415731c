internal import PodcastModel

/// How a transcript is written. Its first bytes tell: neither types of feeds nor endings of files can be relied on.
package enum TranscriptFormat: Int64, Sendable {
  /// WebVTT (https://www.w3.org/TR/webvtt1/) and SubRip (.srt).
  case captions = 1
  /// Podcasting 2.0's JSON, and that of whisper.
  case json
  /// Podcasting 2.0's HTML: `<cite>`, `<time>` and `<p>`.
  case html
  /// Lines of text, which may begin with a time.
  case text

  /// Of a file's bytes.
  package init(of file: [UInt8]) {
    let bytes = file[Self.start(of: file)...].drop { $0 <= 0x20 }
    switch bytes.first {
    case UInt8(ascii: "{"): self = .json
    case UInt8(ascii: "<"): self = .html
    case UInt8(ascii: "["):
      // A list of segments, or a text that begins with a time: "[00:12] Good evening".
      self = bytes.dropFirst().first { $0 > 0x20 } == UInt8(ascii: "{") ? .json : .text
    default:
      let isCaption = bytes.starts(with: "WEBVTT".utf8) || CaptionReader.hasTimes(Array(bytes.prefix(4096)))
      self = isCaption ? .captions : .text
    }
  }

  /// Whether the cues of a part of the file can be read without the rest.
  var hasPlaces: Bool { self == .captions }

  /// What a file says, cue by cue; of what cannot be read, nothing.
  /// - Parameter bytes: where the format has places, those of a part will do.
  package func cues(_ bytes: [UInt8]) -> [Cue] {
    switch self {
    case .captions: CaptionReader.cues(bytes)
    case .json: MarkedTranscripts.json(bytes)
    case .html: MarkedTranscripts.html(bytes)
    case .text: MarkedTranscripts.text(bytes[Self.start(of: bytes)...])
    }
  }

  /// Behind a byte order mark.
  private static func start(of file: [UInt8]) -> Int { file.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0 }
}
