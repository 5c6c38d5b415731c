internal import Configuration

/// `podcastfs doctor`.
enum DoctorCommand: Command {
  static let name = "doctor"
  static let summary = "say what is missing on this machine, and how to mend it"
  static let usage = """
    podcastfs doctor

    Checks what podcastfs needs: FUSE, libraries, directories, its daemon, the search service. Status 0 where
    all is well, 1 where something is to be mended.
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    guard try arguments.operands().isEmpty else { throw UsageError("doctor takes no operands") }
    var findings: [Finding] = []
    func report(_ more: [Finding]) {
      for finding in more { StandardStreams.print(finding.text) }
      findings += more
    }
    report(FuseChecks.all())
    report(LibraryChecks.all())
    let places = PlaceChecks.all(environment: Places.processEnvironment)
    report(places.findings)
    // Last, because it may take its time.
    if let settings = places.settings { report([NetworkCheck.run(settings)]) }
    let problems = findings.count(where: \.isProblem)
    if problems > 0 { throw CommandFailure("\(HumanText.count(problems, "problem")) found") }
    return 0
  }
}
