internal import PodcastModel

/// Words as the index has them, and as a phrase is compared with a text: letters of English in lower case where there is a
/// choice, without marks; characters of scripts without blanks are words of their own (`SearchText`).
enum SpokenWords {
  typealias Bytes = UnsafeBufferPointer<UInt8>

  /// Calls `body` with each word's bytes, which are valid during the call.
  static func forEach(in text: String, _ body: (Bytes) -> Void) {
    var text = text
    text.withUTF8 { bytes in
      withUnsafeTemporaryAllocation(of: UInt8.self, capacity: longest) { buffer in
        var position = 0
        while position < bytes.count {
          guard isPart(bytes[position]) else {
            position += 1
            continue
          }
          var end = position
          var isPlain = true
          while end < bytes.count, isPart(bytes[end]) {
            if bytes[end] >= 0x80 { isPlain = false }
            end += 1
          }
          let run = bytes[position..<end]
          position = end
          if isPlain, run.count <= longest {
            for (place, byte) in run.enumerated() {
              buffer[place] = (65...90).contains(byte) ? byte | 0x20 : byte
            }
            body(Bytes(rebasing: buffer[..<run.count]))
          } else {
            forEachFolded(String(decoding: run, as: UTF8.self), body)
          }
        }
      }
    }
  }

  private static func forEachFolded(_ run: String, _ body: (Bytes) -> Void) {
    for word in SearchText.episodeWords(run) {
      var word = word.withoutAnyMarks.lowercased()
      word.withUTF8(body)
    }
  }

  static func list(_ text: String) -> [String] {
    var words: [String] = []
    forEach(in: text) { words.append(String(decoding: $0, as: UTF8.self)) }
    return words
  }

  /// A number that tells a word from others (FNV-1a).
  static func number(_ word: some Sequence<UInt8>) -> UInt64 {
    word.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  /// Letters and digits of ASCII, and all bytes of other characters: what these are is looked at then.
  private static func isPart(_ byte: UInt8) -> Bool {
    byte >= 0x80 || (97...122).contains(byte | 0x20) || (48...57).contains(byte)
  }

  /// Bytes of a plain word; longer ones are taken as those with other letters.
  private static let longest = 64
}
