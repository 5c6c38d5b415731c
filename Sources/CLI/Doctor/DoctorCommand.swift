internal import Configuration
internal import PodcastModel

enum DoctorCommand: Command {
  static let usage = """
    podcastfs doctor [--json] [--quiet]

    Checks what podcastfs needs: FUSE, libraries, folders, mounts, the daemon, the search service. Shows a fix for each problem.
    The status is 1 where there is one.

      --quiet  problems only
    """

  static func run(_ arguments: inout ArgumentList) throws {
    _ = try arguments.operands()
    var findings: [Finding] = []
    func report(_ more: [Finding]) {
      for finding in more where !StandardStreams.isJSON && (finding.isProblem || !StandardStreams.isQuiet) {
        StandardStreams.tell(finding.text, hanging: Finding.indent, finding.color)
      }
      findings += more
    }
    report(MachineChecks.all())
    let places = PlaceChecks.all(environment: Places.processEnvironment)
    report(places.findings)
    if let settings = places.settings, let found = try? Places() {
      report(ServiceChecks.directory(found, settings) + ServiceChecks.synchronization(found, settings))
    }
    // Last, because it may take its time.
    if let settings = places.settings { report([ServiceChecks.search(settings)]) }
    StandardStreams.show(.array(findings.map(\.json))) {}
    let problems = findings.count(where: \.isProblem)
    if problems > 0 { throw CommandFailure("\(HumanText.count(problems, "problem")) found") }
  }
}

package enum Finding: Hashable, Sendable {
  case fine(String)
  /// Nothing is wrong, but it is good to know.
  case note(String)
  case problem(String, fix: String)

  /// What a check has found.
  /// - Parameter problem: what is wrong where `isFine` is false.
  static func check(
    _ isFine: Bool, _ message: String, or problem: String, fix: String
  ) -> Finding {
    isFine ? .fine(message) : .problem(problem, fix: fix)
  }

  package var isProblem: Bool { kind.status == "problem" }

  private var kind: (status: String, message: String, fix: String?, color: Style.Color?) {
    switch self {
    case .fine(let message): ("ok", message, nil, nil)
    case .note(let message): ("note", message, nil, .yellow)
    case .problem(let message, let fix): ("problem", message, fix, .red)
    }
  }

  var color: Style.Color? { kind.color }

  var json: JSONValue {
    .members(["status": kind.status, "message": kind.message, "fix": kind.fix])
  }

  /// Columns of the word at the beginning of a line.
  static let indent = 9

  package var text: String {
    let word = isProblem ? "PROBLEM" : kind.status
    let fix = kind.fix.map { "\n" + ColumnText.fitted("fix:", Self.indent) + $0 } ?? ""
    return ColumnText.fitted(word, Self.indent) + kind.message + fix
  }
}
