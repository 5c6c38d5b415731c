import Configuration
import Testing

/// A short run here; a long one by PODCASTFS_MODEL_STEPS and PODCASTFS_MODEL_SEED (Documentation/Testing.md).
@Suite struct ReferenceModelTests {
  @Test func randomOperationsNeverGiveAWrongByte() throws {
    let environment = Places.processEnvironment
    let steps = environment["PODCASTFS_MODEL_STEPS"].flatMap { Int($0) } ?? 150
    let seed = environment["PODCASTFS_MODEL_SEED"].flatMap { UInt64($0) } ?? 1
    let model = try TransferModel(seed: seed)
    defer { model.stop() }
    var done = 0
    while done < steps && model.failures.isEmpty {
      try model.step()
      done += 1
    }
    if model.failures.isEmpty { try model.finish() }
    if steps > 1000 || !model.failures.isEmpty {
      print("model: seed \(seed), \(done) steps, \(model.kills) kills, \(model.bytesCompared) bytes compared")
    }
    let story = model.failures.isEmpty ? "" : model.log.suffix(60).joined(separator: "\n")
    #expect(model.failures.isEmpty, "seed \(seed)\n\(model.failures)\n\(story)")
  }
}
