import CLI
import CTestLinux
import Testing

/// Columns by wcwidth(3), which knows nothing of this program.
enum WideText {
  static func columns(_ text: String) -> Int { text.unicodeScalars.reduce(0) { $0 + columns($1) } }

  static func columns(_ scalar: Unicode.Scalar) -> Int { Int(test_columns(scalar.value)) }
}

@Suite struct WideTextTests {
  @Test func textIsAsWideAsTheCLibrarySays() {
    var wrong: [String] = []
    for value in UInt32(0x20)..<0x3_0000 {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let columns = WideText.columns(scalar)
      switch scalar.properties.generalCategory {
      case .unassigned, .privateUse, .control, .surrogate, .format, .lineSeparator, .paragraphSeparator:
        continue
      default:
        if columns >= 0, ColumnText.width(String(scalar)) != columns {
          wrong.append("\(String(value, radix: 16)):\(columns)")
        }
      }
    }
    // Each knows another version of Unicode.
    #expect(wrong.count <= 3, "\(wrong.count): \(wrong.prefix(99))")
  }

  @Test func aCutDividesNoCharacter() {
    let family = "👩‍👩‍👧‍👦"
    #expect(ColumnText.cut("e\u{301}e\u{301}e\u{301}e\u{301}", 3) == "e\u{301}e\u{301}…")
    #expect(ColumnText.cut("a\(family)b", 4) == "a…")
    #expect(ColumnText.cut("🇩🇪🇩🇪🇩🇪", 5) == "🇩🇪🇩🇪…")
  }

  @Test func linesBreakBesideWideCharactersAndBeforeNoMark() {
    #expect(ColumnText.wrapped("港の灯、夜の霧。", 6) == "港の\n灯、夜\nの霧。")
    #expect(
      ColumnText.wrapped("see https://harbour.example/a-long-address", 10)
        == "see https://harbour.example/a-long-address")
    #expect(ColumnText.wrapped("(one) two-three it's", 9) == "(one)\ntwo-three\nit's")
  }
}
