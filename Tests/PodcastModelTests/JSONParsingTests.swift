import PodcastModel
import TestSupport
import Testing

@Suite struct JSONParsingTests {
  private func parse(_ text: String) throws -> JSONValue { try JSONValue(parsing: Array(text.utf8)) }

  @Test func valuesOfEachKindAreRead() throws {
    let value = try parse(
      "\u{FEFF} {\"a\": [1, -2.5e3, true, null, \"x\\u00e9\\ud83c\\udf99\\n\"], \"b\": {}, \"a2\": 12345678901234567890}"
    )
    #expect(value["a"]?.elements.count == 5)
    #expect(value["a"]?.elements[0].wholeNumber == 1)
    #expect(value["a"]?.elements[1].text == "-2500.0")
    #expect(value["a"]?.elements[2].flag == true)
    #expect(value["a"]?.elements[4].text == "xé🎙\n")
    #expect(value["none"] == nil)
    #expect(value["a2"]?.wholeNumber == nil)
    #expect(try parse("{\"a\":1,\"a\":2}")["a"]?.wholeNumber == 2)
    #expect(try parse("\"\\ud83c x\"").text == "\u{FFFD} x")
  }

  @Test(arguments: [
    "", " ", "{", "[1,", "[1,]", "{\"a\"}", "{a:1}", "tru", "1 2", "\"open", "\"\\x\"", "\"\\u12\"", "+1",
    ".5", "--1", "NaN",
    "<html>",
  ])
  func whatIsNoJSONIsRefused(text: String) {
    #expect(throws: JSONSyntaxError.self) { try parse(text) }
  }

  @Test func depthIsBounded() {
    let deep = String(repeating: "[", count: 100_000)
    #expect(throws: JSONSyntaxError.self) { try parse(deep) }
    let shallow = String(repeating: "[", count: 60) + String(repeating: "]", count: 60)
    #expect(throws: Never.self) { try parse(shallow) }
  }

  @Test func whatIsWrittenIsReadAgainAndNoDamageCrashes() throws {
    var random = SeededGenerator(seed: 7)
    let value = JSONValue.object([
      ("results", .array([.string("a\u{0}\"\\é🎙"), .integer(-7), .number(0.25), .bool(false), .null]))
    ])
    let text = value.compactText
    #expect(try parse(text).compactText == text)
    for _ in 0..<5000 {
      var bytes = Array(text.utf8)
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      _ = try? JSONValue(parsing: bytes)
    }
  }
}
