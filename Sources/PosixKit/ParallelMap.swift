internal import Glibc

extension Array where Element: Sendable {
  /// Fewer than these are not worth a thread.
  private static var least: Int { 512 }

  /// What `transform` makes of each, in order: of many by two threads at once, where the machine has two processors
  /// and gives the thread.
  package func parallelMap<Result: Sendable>(
    _ transform: @escaping @Sendable (Element) -> Result
  ) -> [Result] {
    guard count >= Self.least, sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1 else { return map(transform) }
    let second = Monitor<[Result]?>(nil)
    let half = count / 2
    let isShared = PosixThread.attempt("map") {
      let results = self[half...].map(transform)
      second.withLockNotifying { $0 = results }
    }
    let first = self[..<(isShared ? half : count)].map(transform)
    return isShared ? first + (second.wait { $0 } ?? []) : first
  }
}
