internal import PosixKit

/// The directories that the kernel knows, by the numbers that it has for them (`KernelNumbers`), each as often as it
/// was given: what nobody knows nobody watches.
final class KnownDirectories: Sendable {
  private let counts = Monitor<[UInt64: UInt64]>([:])

  var count: Int { counts.withLock { $0.count } }

  func note(_ number: UInt64) { counts.withLock { $0[number, default: 0] += 1 } }

  /// - Returns: whether the kernel knows it no longer.
  func forget(_ number: UInt64, _ count: UInt64) -> Bool {
    counts.withLock { counts in
      guard let known = counts[number] else { return false }
      if known > count {
        counts[number] = known - count
        return false
      }
      counts[number] = nil
      return true
    }
  }

  /// The root is never looked up.
  func contains(_ number: UInt64) -> Bool { number == 1 || counts.withLock { $0[number] != nil } }
}
