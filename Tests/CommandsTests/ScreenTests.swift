import CLI
import Glibc
import PosixKit
import TestSupport
import Testing

/// What commands show on terminals.
@Suite(.enabled(if: Products.isInstalled("script"), "script(1) makes the terminals")) struct ScreenTests {
  let environment: TestEnvironment

  init() throws { environment = try TestEnvironment() }

  /// Words that are longer than a line stay whole.
  private func fits(_ lines: [String], _ columns: Int) -> [String] {
    lines.filter { line in
      ColumnText.width(line) >= columns && line.split(separator: " ").allSatisfy { $0.count < columns - 16 }
    }
  }

  @Test(arguments: [60, 80, 120]) func helpFitsTheTerminalAndBreaksAtWords(columns: Int) throws {
    let whole = try Products.run("podcastfs", ["help", "--all", "options"], in: environment).output
    let topics = CommandLineTool.commands.map { $0.name } + ["options"]
    for topic in topics {
      let lines = try screen(environment, "help \(topic)", columns: columns)
      // Below the prompt.
      if columns >= 80 { #expect(lines.count <= 22, "\(topic): \(lines.count)") }
      #expect(fits(lines, columns).isEmpty, "\(topic): \(fits(lines, columns))")
    }
    func words(_ text: String) -> [Substring] { text.split { $0 == " " || $0 == "\n" } }
    let lines = try screen(environment, "help --all options", columns: columns)
    #expect(words(lines.joined(separator: "\n")) == words(whole))
  }

  @Test func theOverviewFitsTheUsualTerminalAndNamesEveryCommand() throws {
    let lines = try screen(environment, "help")
    #expect(lines.count <= 23 && fits(lines, 80).isEmpty, "\(lines)")
    let words = Set(lines.joined(separator: " ").split(separator: " ").map(String.init))
    for command in CommandLineTool.commands { #expect(words.contains(command.name), "\(command.name)") }
  }

  /// Words that only the project understood, or that are not English: they do not come back.
  private static let oldWords = [
    "operand", "mend ", "mended", " is here", "are here", "is told", "are told", "taken away", "takes away",
    "can't be", "goes on", "go on", "follow podcasts no longer", "come up", "how far it is", "wholly",
    "belong into",
    "had of", "is had", "what came", "have come", "has come", "in place of", "lets go", "makes of",
    "whatever happens",
    "of use", "by itself", "anew", "takes it away", "no address of", "the server fails",
  ]

  @Test func helpAndManualsUseWordsThatEverybodyKnows() throws {
    for words in CommandLineTool.commands.map({ [$0.name] }) + [["--all", "options"], [], ["--manual"]] {
      let text = try Products.run("podcastfs", ["help"] + words, in: environment).output
      let line = text.split { $0 == "\n" }.joined(separator: " ")
      for word in Self.oldWords { #expect(!line.contains(word), "\(words): \(word)") }
    }
  }

  /// The text of each literal in the sources, without what is put into it.
  @Test func messagesUseWordsThatEverybodyKnows() throws {
    let folder = #filePath.replacing("Tests/CommandsTests/ScreenTests.swift", with: "Sources")
    let find = try RunningProcess(
      "find", [folder, "-name", "*.swift"], environment: ["PATH": Products.searchPath])
    #expect(find.wait() == .exit(0))
    let files = find.output.split(separator: "\n")
    #expect(files.count > 300)
    for file in files {
      let text = String(decoding: try Directories.read(String(file)), as: UTF8.self)
      for line in text.split(separator: "\n") where !line.drop(while: { $0 == " " }).hasPrefix("//") {
        for literal in line.matches(of: #/"(?:[^"\\]|\\.)*"/#) {
          let words = literal.output.replacing(#/\\\([^)]*\)/#, with: "")
          for word in Self.oldWords { #expect(!words.contains(word), "\(file): \(literal.output)") }
        }
      }
    }
  }

  @Test func theDoctorBreaksAtWords() throws {
    let lines = try screen(environment, "doctor", columns: 60)
    #expect(fits(lines, 60).isEmpty, "\(lines)")
  }

  @Test func textIsBrokenAtBlanksAndKeepsItsIndentation() {
    #expect(ColumnText.wrapped("a quiet harbour at night", 12) == "a quiet\nharbour at\nnight")
    #expect(
      ColumnText.wrapped("ok       a quiet harbour", 18, hanging: 9) == "ok       a quiet\n         harbour")
    #expect(ColumnText.wrapped("  short\n  a quiet harbour", 12) == "  short\n  a quiet\n  harbour")
    #expect(ColumnText.wrapped("https://harbour.example/feed", 10) == "https://harbour.example/feed")
    #expect(ColumnText.wrapped("", 10) == "")
    #expect(ColumnText.entry("  -f", "stay in front", at: 6, 18) == "  -f  stay in\n      front")
    #expect(ColumnText.entry("  --manual PAGE", "a page", at: 6, 30) == "  --manual PAGE\n      a page")
    #expect(ColumnText.cutInTheMiddle("The Long Road to the Harbour, part 2", 20) == "The Long Road…part 2")
  }
}
