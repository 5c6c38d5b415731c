/// Episodes of an origin that misbehaves and changes at random, and everything it has ever served: what a
/// reference model compares with.
package struct ServedEpisodes {
  private let origin: OriginServer
  private let paths: [String]
  private var versions: [[ServedVersion]]
  private var random: SeededGenerator
  private var nextSeed: UInt64

  /// Takes over what is under `paths`.
  package init(of origin: OriginServer, at paths: [String], bodies: [TestBody], seed: UInt64) {
    self.origin = origin
    self.paths = paths
    versions = bodies.map { [ServedVersion($0)] }
    random = SeededGenerator(seed: seed ^ 0x5eed)
    nextSeed = seed &* 1000 &+ 100
    for (path, body) in zip(paths, bodies) { origin.serve(path, OriginResource(body)) }
  }

  /// The size of what is served now.
  package func size(_ episode: Int) -> Int64 { versions[episode].last?.body.size ?? 0 }

  /// Which versions bytes of an episode may be of, of those that what was seen before leaves.
  package func candidates(
    _ before: [ServedVersion]?, _ episode: Int, agreeingWith bytes: [UInt8], at offset: Int64
  ) -> [ServedVersion] {
    (before ?? versions[episode]).compactMap { $0.agreeing(with: bytes, at: offset) }
  }

  /// How bytes differ from what they may be of, for the story of a failure.
  package func differences(
    _ before: [ServedVersion]?, _ episode: Int, from bytes: [UInt8], at offset: Int64
  ) -> String {
    (before ?? versions[episode]).map { $0.difference(from: bytes, at: offset) }.joined(separator: "; ")
  }

  /// Changes how the origin answers.
  /// - Returns: what it does now, for the story.
  package mutating func misbehave(_ episode: Int) -> String {
    var behaviour = OriginBehaviour()
    let place = next(below: size(episode))
    let kind = next(below: 17)
    switch kind {
    case 0: behaviour.cutAfter = place
    case 1: behaviour.resetAfter = place
    case 2: behaviour.stallAfter = place
    case 3: behaviour.status = [404, 408, 429, 500, 503][Int(next(below: 5))]
    case 4: behaviour.isWebPage = true
    case 5: behaviour.omitsLength = true
    case 6: behaviour.ignoresRange = true
    case 7: behaviour.refusesRange = true
    case 8: behaviour.rangeShift = next(below: 100_000) - 50_000
    case 9: behaviour.omitsValidators = true
    case 10: behaviour.refusesToAnswer = true
    case 11: behaviour.redirects = 3
    case 12: behaviour.latency = 0.4
    default: behaviour.rate = 500_000 + next(below: 8_000_000)
    }
    origin.change(paths[episode]) { $0.behaviour = behaviour }
    return "misbehave \(episode): \(kind)"
  }

  /// The server's file changes.
  package mutating func replace(_ episode: Int) -> String {
    nextSeed += 1
    // Now and then of the same size: only the validator tells, or the bytes.
    let size = next(below: 3) == 0 ? size(episode) : 150_000 + next(below: 600_000)
    let body = TestBody(seed: nextSeed, size: size)
    let varies: Int64? = next(below: 4) == 0 ? size / 3 : nil
    versions[episode].append(ServedVersion(body, variesFrom: varies))
    var resource = OriginResource(body)
    resource.behaviour = Self.proper(varies)
    origin.serve(paths[episode], resource)
    return "replace \(episode) by \(body.seed), \(size), varies \(varies ?? -1)"
  }

  /// The network is away: no host answers. Until they misbehave or behave again.
  package func goAway() {
    for path in paths { origin.change(path) { $0.behaviour.refusesToAnswer = true } }
  }

  /// Answers as it should from now on.
  package func behave(_ episode: Int) {
    let varies = versions[episode].last?.variesFrom
    origin.change(paths[episode]) { $0.behaviour = Self.proper(varies) }
  }

  /// A file that is another one for each request has no validator.
  private static func proper(_ varies: Int64?) -> OriginBehaviour {
    .with {
      $0.variesFrom = varies
      $0.omitsValidators = varies != nil
    }
  }

  private mutating func next(below bound: Int64) -> Int64 {
    Int64(random.next(upperBound: UInt64(max(bound, 1))))
  }
}
