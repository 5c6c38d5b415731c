internal import Configuration

/// How long a reference model runs, and from which seed: the environment says, for long runs.
package struct ModelRun {
  package let steps: Int
  package let seed: UInt64
  private let isLong: Bool

  /// - Parameter usual: steps of the short run.
  package init(usual: Int) {
    let environment = Places.processEnvironment
    let wished = environment["PODCASTFS_MODEL_STEPS"].flatMap { Int($0) }
    steps = wished ?? usual
    seed = environment["PODCASTFS_MODEL_SEED"].flatMap { UInt64($0) } ?? 1
    isLong = wished != nil
  }

  /// Prints what a long run did, or one that failed.
  package func tell(_ what: String, _ steps: Int, kills: Int, bytes: Int64, hasFailed: Bool) {
    guard isLong || hasFailed else { return }
    print("\(what) model: seed \(seed), \(steps) steps, \(kills) kills, \(bytes) bytes compared")
  }
}
