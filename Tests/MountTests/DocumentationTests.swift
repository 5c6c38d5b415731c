import Glibc
import PosixKit
import TestSupport
import Testing

/// The examples of `Documentation/Attributes.md`, on the demonstration's catalogue.
@Suite(.enabled(if: access(attributesPage, R_OK) == 0, "the documentation is not beside the tests"))
struct DocumentationTests {
  private struct Example {
    var line: Int
    var command: String
    var expected: [String] = []
  }

  /// What stands behind "$ " in fenced blocks of the language "console", with the lines that follow.
  private static func examples() throws -> [Example] {
    let text = String(decoding: try Directories.read(attributesPage), as: UTF8.self)
    var examples: [Example] = []
    var isInside = false
    for (number, line) in zip(1..., text.split(separator: "\n", omittingEmptySubsequences: false)) {
      if line.hasPrefix("```") {
        isInside = line == "```console"
      } else if isInside, line.hasPrefix("$ ") {
        examples.append(Example(line: number, command: String(line.dropFirst(2))))
      } else if isInside, !examples.isEmpty {
        examples[examples.count - 1].expected.append(String(line))
      }
    }
    return examples
  }

  /// Whether a line is as expected, where "…" stands for any text.
  private static func matches(_ line: String, _ expected: String) -> Bool {
    let parts = expected.split(separator: "…", omittingEmptySubsequences: false)
    guard parts.count > 1, let first = parts.first, let last = parts.last else { return line == expected }
    guard line.hasPrefix(first), line.hasSuffix(last), line.count >= first.count + last.count else {
      return false
    }
    var rest = line.dropFirst(first.count).dropLast(last.count)
    for part in parts.dropFirst().dropLast() {
      guard let found = rest.indices.first(where: { rest[$0...].hasPrefix(part) }) else { return false }
      rest = rest[found...].dropFirst(part.count)
    }
    return true
  }

  @Test func everyOptionIsInTheConfigurationsTable() throws {
    let folder = attributesPage.dropLast("Attributes.md".count)
    let page = String(decoding: try Directories.read(folder + "Configuration.md"), as: UTF8.self)
    let help = try Products.run("podcastfs", ["help", "--all", "options"], in: TestEnvironment()).output
    let keys = help.split(separator: "\n").filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }.map { line in
      line.dropFirst(2).prefix { $0 != "=" && $0 != " " }
    }
    #expect(keys.count > 30)
    for key in keys { #expect(page.contains("`\(key)`") || page.contains("`\(key)="), "\(key)") }
  }

  @Test func everyExampleIsTrue() throws {
    let environment = try TestEnvironment()
    var variables = environment.variables
    variables["PATH"] = Products.path("podcastfs").dropLast("/podcastfs".count) + ":" + Products.searchPath
    let mounted = try Products.run("podcastfs", ["demo"], in: environment)
    try #require(mounted.end == .exit(0), "\(mounted.errors)")
    defer {
      _ = try? Products.run(
        "podcastfs", ["unmount", "--lazy", environment.home.path("Podcasts")], in: environment)
    }
    let examples = try Self.examples()
    #expect(examples.count > 20)
    for example in examples {
      let process = try RunningProcess(
        "sh", ["-c", "cd \"$HOME\"\n" + example.command], environment: variables)
      let end = process.wait()
      var lines = process.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      if lines.last == "" { lines.removeLast() }
      let isTrue =
        lines.count == example.expected.count && zip(lines, example.expected).allSatisfy(Self.matches)
      #expect(
        end != nil && isTrue,
        "line \(example.line): \(example.command)\n\(process.output)\(process.errors)")
    }
  }
}

private let attributesPage =
  #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
  + "/Documentation/Attributes.md"
