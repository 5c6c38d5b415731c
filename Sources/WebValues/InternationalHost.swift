/// Host names with letters beyond ASCII, as DNS has them (RFC 5890 to RFC 5892, RFC 3492).
package enum InternationalHost {
  /// The host in ASCII: in lower case and normalization form C, each label beyond ASCII in Punycode behind "xn--".
  package static func ascii(_ host: some StringProtocol) -> String {
    let lowered = host.lowercased()
    if lowered.utf8.allSatisfy({ $0 < 0x80 }) { return lowered }
    let labels = lowered.inNormalizationFormC.split(
      omittingEmptySubsequences: false, whereSeparator: { dots.contains($0) })
    return labels.map { label in
      label.utf8.allSatisfy { $0 < 0x80 } ? String(label) : "xn--" + punycode(label)
    }.joined(separator: ".")
  }

  /// The full stop and those of East Asian scripts (RFC 3490 §3.1).
  private static let dots: Set<Character> = [".", "\u{3002}", "\u{FF0E}", "\u{FF61}"]

  // RFC 3492 §5.
  private static let (base, least, most, skew, damp) = (36, 1, 26, 38, 700)

  /// A label as ASCII (RFC 3492 §6.3).
  private static func punycode(_ label: Substring) -> String {
    let input = label.unicodeScalars.map { Int($0.value) }
    var output = input.filter { $0 < 0x80 }.map { UInt8($0) }
    let basic = output.count
    if basic > 0 { output.append(UInt8(ascii: "-")) }
    var (code, delta, bias, handled) = (128, 0, 72, basic)
    while handled < input.count {
      let next = input.lazy.filter { $0 >= code }.min() ?? code
      delta += (next - code) * (handled + 1)
      code = next
      for value in input {
        if value < code { delta += 1 }
        if value != code { continue }
        append(delta, bias, to: &output)
        bias = adapted(delta, handled + 1, isFirst: handled == basic)
        delta = 0
        handled += 1
      }
      delta += 1
      code += 1
    }
    return String(decoding: output, as: UTF8.self)
  }

  /// Appends a number of variable length (RFC 3492 §3.3).
  private static func append(_ number: Int, _ bias: Int, to output: inout [UInt8]) {
    var (rest, place) = (number, base)
    while true {
      let threshold = min(max(place - bias, least), most)
      if rest < threshold { return output.append(digit(rest)) }
      output.append(digit(threshold + (rest - threshold) % (base - threshold)))
      rest = (rest - threshold) / (base - threshold)
      place += base
    }
  }

  private static func digit(_ value: Int) -> UInt8 { UInt8(value < 26 ? 97 + value : 22 + value) }

  /// RFC 3492 §3.4.
  private static func adapted(_ delta: Int, _ count: Int, isFirst: Bool) -> Int {
    var delta = isFirst ? delta / damp : delta / 2
    delta += delta / count
    var place = 0
    while delta > (base - least) * most / 2 {
      delta /= base - least
      place += base
    }
    return place + (base - least + 1) * delta / (delta + skew)
  }
}
