/// A transcript parted into half minutes, in which the words of a query must be together.
struct Segments {
  let cues: [Cue]
  /// The place in `cues` where each begins.
  private(set) var starts: [Int] = []

  /// Milliseconds, and bytes of text, after which another one begins.
  private static let span = 30_000
  private static let bytes = 1500
  /// More are one: of 34 hours.
  private static let most = 4096

  /// Cues that are read: words of 34 hours, each with its time.
  private static let mostCues = 300_000

  init(_ all: [Cue]) {
    cues = all.count > Self.mostCues ? Array(all.prefix(Self.mostCues)) : all
    var begin = 0
    var length = 0
    for (place, cue) in cues.enumerated() {
      let isNew = starts.isEmpty || abs(cue.start - begin) >= Self.span || length >= Self.bytes
      if isNew, starts.count < Self.most {
        starts.append(place)
        (begin, length) = (cue.start, 0)
      }
      length += cue.text.utf8.count
    }
  }

  var count: Int { starts.count }

  /// The cues of a segment.
  func cues(of segment: Int) -> ArraySlice<Cue> { cues[starts[segment]..<end(of: segment)] }

  /// The same, and those behind it into which a phrase may reach.
  func cuesAndFollowing(_ segment: Int) -> ArraySlice<Cue> {
    cues[starts[segment]..<end(of: min(segment + Self.following, count - 1))]
  }

  /// Segments into which a phrase may reach.
  static let following = 3

  private func end(of segment: Int) -> Int { segment + 1 < count ? starts[segment + 1] : cues.count }

  /// What the index has of a segment: its words, and the first one behind it.
  func indexed(_ segment: Int) -> String {
    var text = ""
    for cue in cues(of: segment) { SpokenWords.forEach(in: cue.text) { append($0, to: &text) } }
    for cue in cues[end(of: segment)..<end(of: min(segment + Self.following, count - 1))] {
      var isFirst = true
      SpokenWords.forEach(in: cue.text) { word in
        if isFirst { append(word, to: &text, TranscriptQuery.mark) }
        isFirst = false
      }
      if !isFirst { break }
    }
    return text
  }

  private func append(_ word: SpokenWords.Bytes, to text: inout String, _ mark: String = "") {
    text += mark
    text += String(decoding: word, as: UTF8.self)
    text += " "
  }

  /// All places where a query matches, in their order.
  func hits(_ query: TranscriptQuery) -> [TranscriptHit] {
    (0..<count).flatMap { query.hits(in: cuesAndFollowing($0), count: cues(of: $0).count) }
  }
}

/// Where the segments of a transcript begin in its file, as the index keeps it: the steps between them, seven bits a byte.
enum SegmentPlaces {
  static func bytes(_ places: [Int]) -> [UInt8] {
    var bytes: [UInt8] = []
    var last = 0
    for place in places {
      var step = place - last
      last = place
      while step >= 0x80 {
        bytes.append(UInt8(step & 0x7F) | 0x80)
        step >>= 7
      }
      bytes.append(UInt8(step))
    }
    return bytes
  }

  static func read(_ bytes: [UInt8]) -> [Int] {
    var places: [Int] = []
    var (last, step, shift) = (0, 0, 0)
    for byte in bytes {
      step |= Int(byte & 0x7F) << shift
      shift += 7
      if byte & 0x80 == 0 {
        last += step
        places.append(last)
        (step, shift) = (0, 0)
      } else if shift > 28 {
        // A damaged file.
        return []
      }
    }
    return places
  }
}
