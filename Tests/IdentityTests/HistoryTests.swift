import PosixKit
import Testing

/// Histories of real feeds: `Histories/README.md` says where they come from.
@Suite struct HistoryTests {
  private static let folder = #filePath.replacing("HistoryTests.swift", with: "Histories/")

  private static func text(_ name: String) throws -> String {
    String(decoding: try Directories.readRegular(folder + name), as: UTF8.self)
  }

  /// Each history's name and what is known to become of it.
  private static let expected: [(name: String, counts: String)] =
    ((try? text("expected.txt")) ?? "").split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
      let fields = line.split(separator: " ", maxSplits: 1).map(String.init)
      return (fields[0], fields[1].trimmingBlanks)
    }

  @Test func `There are some dozens of histories`() {
    #expect(Self.expected.count >= 30)
  }

  @Test(arguments: expected.map(\.name))
  func `The episodes of a real feed are recognized as they were`(name: String) throws {
    let counts = FeedHistory(parsing: try Self.text("\(name).txt")).counts
    let numbers = [
      counts.sightings, counts.unchanged, counts.changed, counts.new, counts.duplicates, counts.doubtful,
    ]
    let line = numbers.map { String($0) }.joined(separator: " ")
    let expected = Self.expected.first { $0.name == name }?.counts
    #expect(line == expected, "\(name): what has changed must be looked at, then written into expected.txt")
  }
}

extension String {
  fileprivate var trimmingBlanks: String { split(separator: " ").joined(separator: " ") }
}
