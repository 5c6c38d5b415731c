/// A piece of a transcript that has a time of its own: what a player shows at once.
package struct Cue: Hashable, Sendable {
  /// In milliseconds from the episode's start.
  package var start: Int
  package var end: Int
  /// Who speaks, where the format says so.
  package var speaker: String?
  /// Without markup.
  package var text: String
  /// Where it begins in the file, in bytes.
  package var place: Int

  package init(start: Int, end: Int, speaker: String? = nil, text: String, place: Int = 0) {
    self.start = start
    self.end = max(end, start)
    self.speaker = speaker
    self.text = text
    self.place = place
  }

  /// Milliseconds that a word takes, where nothing says it: 150 words a minute.
  static let word = 400
}

/// A time as transcripts write it: `1:02:03.500`, `00:12,250`, `0:07`.
struct CueTime {
  let milliseconds: Int
  /// Its bytes.
  let length: Int

  /// - Parameter bytes: begin with the time; something else may follow.
  init?(_ bytes: some Collection<UInt8>) {
    var fields: [Int] = []
    var rest = bytes[...]
    func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
    func take(_ most: Int) -> (value: Int, count: Int) {
      let digits = rest.prefix(most).prefix(while: isDigit)
      rest = rest.dropFirst(digits.count)
      return (digits.reduce(0) { $0 * 10 + Int($1 - 48) }, digits.count)
    }
    while fields.count < 3 {
      let (value, count) = take(4)
      guard count > 0, fields.isEmpty || value < 60 else { return nil }
      fields.append(value)
      guard rest.first == UInt8(ascii: ":") else { break }
      rest = rest.dropFirst()
    }
    guard fields.count >= 2 else { return nil }
    var milliseconds = fields.reduce(0) { $0 * 60 + $1 } * 1000
    if let mark = rest.first, mark == UInt8(ascii: ".") || mark == UInt8(ascii: ","),
      rest.dropFirst().first.map(isDigit) == true
    {
      rest = rest.dropFirst()
      let (value, count) = take(3)
      milliseconds += value * [100, 10, 1][count - 1]
      rest = rest.drop(while: isDigit)
    }
    self.milliseconds = milliseconds
    length = bytes.distance(from: bytes.startIndex, to: rest.startIndex)
  }
}
