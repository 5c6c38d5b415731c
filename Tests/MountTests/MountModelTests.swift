import TestSupport
import Testing

/// A short run here; a long one by PODCASTFS_MODEL_STEPS and PODCASTFS_MODEL_SEED (Documentation/Contributing.md).
@Suite struct MountModelTests {
  @Test func randomOperationsOnAMountNeverGiveAWrongByte() throws {
    let run = ModelRun(usual: 60)
    let failure = try run.failure(of: try MountModel(seed: run.seed))
    #expect(failure == nil, "\(failure ?? "")")
  }
}
