internal import Configuration
internal import PosixKit

/// Random operations, checked after each of them.
package protocol ReferenceModel: AnyObject {
  func step() throws
  /// Ends what goes wrong, and checks that all comes to its end.
  func finish() throws
  var failures: [String] { get }
  /// What was done, for the story of a failure.
  var log: [String] { get }
  var kills: Int { get }
  var bytesCompared: Int64 { get }
}

/// How long a reference model runs, and from which seed: the environment says, for long runs.
package struct ModelRun {
  private let steps: Int
  package let seed: UInt64
  private let isLong: Bool

  /// - Parameter usual: steps of the short run.
  package init(usual: Int) {
    let environment = Places.processEnvironment
    let wished = environment["PODCASTFS_MODEL_STEPS"].flatMap { Int($0) }
    steps = wished ?? usual
    seed = environment["PODCASTFS_MODEL_SEED"].flatMap { UInt64($0) } ?? Self.today
    isLong = wished != nil
  }

  /// Another seed each day, in the universal time: a failure says which, and a run once more has the same.
  package static var today: UInt64 { UInt64(max(wallClockSeconds(), 0) / 86_400) }

  /// Runs `model` until it fails or has done its steps. Prints what a long run did, or one that failed.
  /// - Returns: what has failed and how it came to that; nil where nothing has.
  package func failure(of model: some ReferenceModel) throws -> String? {
    var done = 0
    while done < steps && model.failures.isEmpty {
      try model.step()
      done += 1
    }
    if model.failures.isEmpty { try model.finish() }
    if isLong || !model.failures.isEmpty {
      print(
        "\(type(of: model)): seed \(seed), \(done) steps, \(model.kills) kills, \(model.bytesCompared) bytes compared"
      )
    }
    if model.failures.isEmpty { return nil }
    return "seed \(seed)\n\(model.failures)\n" + model.log.suffix(60).joined(separator: "\n")
  }
}
