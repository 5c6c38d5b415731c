internal import Glibc
internal import HTTPServerKit
internal import WebValues

/// Digest authentication as an origin asks for it (RFC 7616), with MD5, as most hosts do.
enum DigestChallenge {
  private static let realm = "harbour"
  private static let nonce = "7d1f0c"

  /// The value of WWW-Authenticate.
  static let header = "Digest realm=\"\(realm)\", nonce=\"\(nonce)\", qop=\"auth\", algorithm=MD5"

  /// - Parameter credentials: "name:password".
  static func isAnswered(by request: ServerRequest, credentials: String) -> Bool {
    guard let header = request.header("authorization"), header.hasPrefix("Digest ") else { return false }
    var fields: [String: String] = [:]
    for field in header.dropFirst(7).split(separator: ",") {
      let parts = field.split(separator: "=", maxSplits: 1)
      guard parts.count == 2 else { return false }
      fields[String(parts[0].drop { $0 == " " })] = parts[1].filter { $0 != "\"" && $0 != " " }
    }
    let parts = credentials.split(separator: ":", maxSplits: 1)
    let secret = md5("\(parts[0]):\(realm):\(parts[1])")
    let what = md5("\(request.method):\(request.target)")
    let middle = ["nonce", "nc", "cnonce", "qop"].map { fields[$0] ?? "" }.joined(separator: ":")
    return fields["nonce"] == nonce && fields["uri"] == request.target
      && fields["response"] == md5("\(secret):\(middle):\(what)")
  }

  /// MD5 in hexadecimal digits (RFC 1321).
  static func md5(_ text: String) -> String {
    let shifts: [[UInt32]] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]]
    var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476]
    var message = Array(text.utf8)
    let bits = UInt64(message.count) * 8
    message.append(0x80)
    while message.count % 64 != 56 { message.append(0) }
    for byte in 0..<8 { message.append(UInt8(truncatingIfNeeded: bits >> (8 * UInt64(byte)))) }
    for start in stride(from: 0, to: message.count, by: 64) {
      let words = (0..<16).map { word in
        (0..<4).reduce(UInt32(0)) { $0 | UInt32(message[start + 4 * word + $1]) << (8 * UInt32($1)) }
      }
      var (a, b, c, d) = (state[0], state[1], state[2], state[3])
      for step in 0..<64 {
        let (mix, word): (UInt32, Int) =
          switch step / 16 {
          case 0: ((b & c) | (~b & d), step)
          case 1: ((d & b) | (~d & c), (5 * step + 1) % 16)
          case 2: (b ^ c ^ d, (3 * step + 5) % 16)
          default: (c ^ (b | ~d), 7 * step % 16)
          }
        let sum = a &+ mix &+ sines[step] &+ words[word]
        let shift = shifts[step / 16][step % 4]
        (a, d, c, b) = (d, c, b, b &+ (sum << shift | sum >> (32 - shift)))
      }
      state = zip(state, [a, b, c, d]).map { $0 &+ $1 }
    }
    return Hexadecimal.text(
      state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } })
  }

  /// floor(2³² · |sin(step + 1)|).
  private static let sines: [UInt32] = (1...64).map { UInt32(abs(sin(Double($0))) * 4_294_967_296) }
}
