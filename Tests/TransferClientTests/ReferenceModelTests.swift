import TestSupport
import Testing

/// A short run here; a long one by PODCASTFS_MODEL_STEPS and PODCASTFS_MODEL_SEED (Documentation/Testing.md).
@Suite struct ReferenceModelTests {
  @Test func randomOperationsNeverGiveAWrongByte() throws {
    let run = ModelRun(usual: 150)
    let model = try TransferModel(seed: run.seed)
    defer { model.stop() }
    var done = 0
    while done < run.steps && model.failures.isEmpty {
      try model.step()
      done += 1
    }
    if model.failures.isEmpty { try model.finish() }
    run.tell(
      "transfer", done, kills: model.kills, bytes: model.bytesCompared, hasFailed: !model.failures.isEmpty)
    let story = model.failures.isEmpty ? "" : model.log.suffix(60).joined(separator: "\n")
    #expect(model.failures.isEmpty, "seed \(run.seed)\n\(model.failures)\n\(story)")
  }
}
