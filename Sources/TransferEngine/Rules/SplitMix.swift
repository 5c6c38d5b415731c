/// A small generator (SplitMix64, Steele and others 2014): the engine's chance, from a seed that it is given.
package struct SplitMix: RandomNumberGenerator, Hashable, Sendable {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  mutating func jitter(_ value: Double) -> Double { value * Double.random(in: 0.75...1.25, using: &self) }
}
