import TestSupport
import Testing

/// A short run here; a long one by PODCASTFS_MODEL_STEPS and PODCASTFS_MODEL_SEED (Documentation/Testing.md).
@Suite struct MountModelTests {
  @Test func randomOperationsOnAMountNeverGiveAWrongByte() throws {
    let run = ModelRun(usual: 60)
    let model = try MountModel(seed: run.seed)
    var done = 0
    while done < run.steps && model.failures.isEmpty {
      try model.step()
      done += 1
    }
    if model.failures.isEmpty { try model.finish() }
    run.tell(
      "mount", done, kills: model.kills, bytes: model.bytesCompared, hasFailed: !model.failures.isEmpty)
    let story = model.failures.isEmpty ? "" : model.log.suffix(60).joined(separator: "\n")
    #expect(model.failures.isEmpty, "seed \(run.seed)\n\(model.failures)\n\(story)")
  }
}
