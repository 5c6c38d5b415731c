/// Numbers so scattered that a sum of them tells which ones it is made of, in whatever order: the finisher of SplitMix64
/// (Steele, Lea and Flood, 2014).
enum Scatter {
  static func number(_ value: Int64) -> Int64 {
    var bits = UInt64(bitPattern: value) &+ 0x9e37_79b9_7f4a_7c15
    bits = (bits ^ bits >> 30) &* 0xbf58_476d_1ce4_e5b9
    bits = (bits ^ bits >> 27) &* 0x94d0_49bb_1331_11eb
    return Int64(bitPattern: bits ^ bits >> 31)
  }
}
