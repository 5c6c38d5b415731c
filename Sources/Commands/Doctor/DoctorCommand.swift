internal import Configuration
internal import PodcastModel

/// `podcastfs doctor`.
enum DoctorCommand: Command {
  static let name = "doctor"
  static let summary = "find what is wrong on this machine, and the fix"
  static let usage = """
    podcastfs doctor [--json] [--quiet]

    Checks what podcastfs needs: FUSE, libraries, directories, mounts, its daemon, the search service. Status 0 where
    all is well, 1 where there is a problem.

      --json    [{"status", "words", "mend"}], status ok, note or problem; the last is the fix
      --quiet   problems only
    """

  static func run(_ arguments: ArgumentList) throws -> Int32 {
    var arguments = arguments
    let isJSON = arguments.takeFlag("--json")
    guard try arguments.operands().isEmpty else { throw UsageError("doctor takes no arguments") }
    var findings: [Finding] = []
    func report(_ more: [Finding]) {
      for finding in more where !isJSON && (finding.isProblem || !StandardStreams.isQuiet) {
        StandardStreams.tell(finding.text, hanging: Finding.indent, finding.color)
      }
      findings += more
    }
    report(FuseChecks.all())
    report(MountChecks.all())
    report(LibraryChecks.all())
    let places = PlaceChecks.all(environment: Places.processEnvironment)
    report(places.findings)
    // Last, because it may take its time.
    if let settings = places.settings { report([NetworkCheck.run(settings)]) }
    if isJSON { StandardStreams.print(JSONValue.array(findings.map(json)).indentedText) }
    let problems = findings.count(where: \.isProblem)
    if problems > 0 { throw CommandFailure("\(HumanText.count(problems, "problem")) found") }
    return 0
  }

  private static func json(_ finding: Finding) -> JSONValue {
    let (status, words, mend) = finding.json
    return .object([("status", .string(status)), ("words", .string(words)), ("mend", .optional(mend))])
  }
}
