import Configuration
import PosixKit
import Testing

/// The table of options, and what else is said of them.
@Suite struct OptionTableTests {
  /// Written as `Documentation/Configuration.md` has them.
  @Test func theDocumentationHasARowForEachOption() throws {
    let file = #filePath.replacing("Tests/ConfigurationTests/OptionTableTests.swift", with: "")
    let text = String(
      decoding: try Directories.read(file + "Documentation/Configuration.md"), as: UTF8.self)
    let options = OptionHelp.all + FeedSettings.options.map(\.help) + SyncSettings.options.map(\.help)
    let rows = options.map { option in
      let value = option.placeholder.map { " `=\($0.replacing("|", with: "\\|"))`" } ?? ""
      return "| `\(option.key)`\(value) | \(option.usual ?? "none") | \(option.text) |"
    }
    let missing = rows.filter { !text.split(separator: "\n").contains(Substring($0)) }
    #expect(missing.isEmpty, "\(missing.joined(separator: "\n"))")
    let documented = text.split(separator: "\n").filter { $0.hasPrefix("| `") }
    #expect(documented.count == rows.count)
  }

  @Test func aDefaultIsWhatIsSaidOfIt() throws {
    var known = 0
    for option in Settings.options.map(\.help) where option.place == .anywhere {
      guard let usual = option.usual, !usual.contains(" "),
        let settings = try? Settings.load(
          file: "/dev/null", environment: [:], options: ["\(option.key)=\(usual)"]
        ).settings, option.key != "on_complete", option.key != "user_agent", option.key != "proxy"
      else { continue }
      known += 1
      #expect(settings == Settings(), "\(option.key)=\(usual)")
    }
    #expect(known >= 14, "\(known)")
  }

  @Test func everyKeyIsThereOnce() {
    let keys = OptionHelp.all.map(\.key)
    #expect(Set(keys).count == keys.count)
  }
}
