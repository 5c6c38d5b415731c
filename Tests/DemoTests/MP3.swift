/// Walks the frames of an MPEG-2 layer III file (ISO/IEC 13818-3), behind an ID3 tag.
enum MP3 {
  /// Seconds of sound, nil where the bytes are not frames from end to end.
  static func seconds(_ bytes: [UInt8]) -> Double? {
    var at = 0
    if bytes.starts(with: Array("ID3".utf8)), bytes.count > 10 {
      at = 10 + bytes[6..<10].reduce(0) { $0 << 7 | Int($1 & 0x7f) }
    }
    var seconds = 0.0
    let bitRates = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0]
    let sampleRates = [22_050, 24_000, 16_000, 0]
    while at + 4 <= bytes.count {
      // Sync, version 2, layer III; then bit rate, sample rate, padding.
      guard bytes[at] == 0xff, bytes[at + 1] & 0xfe == 0xf2 else { return nil }
      let bitRate = bitRates[Int(bytes[at + 2] >> 4)] * 1000
      let sampleRate = sampleRates[Int(bytes[at + 2] >> 2 & 3)]
      guard bitRate > 0, sampleRate > 0 else { return nil }
      at += 72 * bitRate / sampleRate + Int(bytes[at + 2] >> 1 & 1)
      seconds += 576 / Double(sampleRate)
    }
    return at == bytes.count ? seconds : nil
  }
}
