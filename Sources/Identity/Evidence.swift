/// Why an item is, or is not, an episode that is known: what was found, and what it counts.
package struct Evidence: Hashable, Sendable {
  package private(set) var score = 0
  package private(set) var findings: [Finding] = []

  /// From here on an item is taken for the episode.
  package static let enough = 50
  /// Where two candidates are nearer to each other than this, neither is taken.
  package static let margin = 5

  mutating func add(_ finding: Finding) {
    findings.append(finding)
    score += finding.points
  }

  /// One thing that two items have in common, or in which they differ. "Rare": nobody else has it, neither among
  /// the items nor among the episodes; what many share tells little.
  package enum Finding: String, Hashable, Sendable, CaseIterable {
    /// Nothing that tells episodes apart has changed.
    case unchanged
    /// All is as it was but for what may be a session in the address, and there is neither guid nor date to go by.
    case unchangedButForSession
    case sameGuid, sharedGuid
    case otherGuid
    /// While other items of the document keep their guids.
    case otherGuidAmongKept
    case sameAddress, sharedAddress
    /// An address that carries one edition after another: `latest.mp3`, or that of a feed that shows one item at a time.
    case sameSlotAddress
    case sameUnsignedAddress, sameBareAddress
    /// The same file behind another token (`AddressTokens`).
    case sameAddressButForToken
    /// Another address on the same host.
    case otherAddress
    case sameFileName
    case sameTitle, sharedTitle, otherTitle
    /// All titles of the show have got or lost the same before or behind them.
    case sameTitleButForAffix
    /// To the second.
    case sameTime, sharedTime
    /// Within fourteen hours: what a wrong time zone makes.
    case nearTime, sharedNearTime
    /// Later or earlier by so much, in a feed that shows one item at a time and has no guid that names it, on the same
    /// host.
    case nextTime
    /// Later than all that is known, at an address that editions have in turn, or each of them.
    case nextEdition
    case otherTime
    /// One of the two times is that at which another host has taken all in.
    case timeOfImport
    /// All, or nearly all, of what the feed has had is on another host, and tells as much as this one (`WholeMove`).
    case movedWithAll
    case sameDuration, otherDuration
    case sameLength, otherLength
    /// Season and number.
    case sameNumber, otherNumber
    /// The guid that they have in common names something else (`ReusedGuid`).
    case reusedGuid

    package var points: Int {
      switch self {
      // The publisher's own word outweighs all that may have been corrected.
      case .unchanged, .unchangedButForSession, .sameGuid: 180
      case .sharedGuid: 30
      // A new guid is a new episode, unless much else says otherwise.
      case .otherGuid: -10
      case .otherGuidAmongKept: -15
      // Enough alone, unless the title or the time speaks against it.
      case .sameAddress: 70
      case .sharedAddress: 10
      case .sameSlotAddress: 15
      case .sameUnsignedAddress: 55
      // Weak: in a rolling feed what was left out may have been the episode's number.
      case .sameBareAddress: 20
      // Enough with a title, whatever others have it.
      case .sameAddressButForToken: 40
      case .otherAddress: -8
      case .sameFileName: 15
      case .sameTitle: 36
      case .sharedTitle: 10
      case .otherTitle: -12
      case .sameTitleButForAffix: 20
      // With a title that others have enough, also at another address of the same host; alone not.
      case .sameTime: 49
      case .sharedTime: 15
      case .nearTime: 25
      case .sharedNearTime: 8
      case .nextTime: -40
      // All that a station's bulletins have in common does not outweigh it.
      case .nextEdition: -120
      // Yesterday's news and today's have all but this in common.
      case .otherTime: -40
      case .timeOfImport: 0
      // With a title that others have and a day enough: what all of a feed says together is no chance.
      case .movedWithAll: 45
      case .sameDuration: 12
      case .otherDuration: -20
      case .sameLength: 20
      case .otherLength: -3
      case .sameNumber: 15
      case .otherNumber: -40
      // No more than if there were none.
      case .reusedGuid: -180
      }
    }
  }
}
