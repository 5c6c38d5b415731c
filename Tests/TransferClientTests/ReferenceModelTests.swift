import TestSupport
import Testing

/// A short run here; a long one by PODCASTFS_MODEL_STEPS and PODCASTFS_MODEL_SEED (Documentation/Contributing.md).
@Suite struct ReferenceModelTests {
  @Test func randomOperationsNeverGiveAWrongByte() throws {
    let run = ModelRun(usual: 150)
    let model = try TransferModel(seed: run.seed)
    defer { model.stop() }
    let failure = try run.failure(of: model)
    #expect(failure == nil, "\(failure ?? "")")
  }
}
