import PodcastModel
import Testing

@Suite struct JSONValueTests {
  @Test func `Members keep their order and text is escaped`() {
    let value = JSONValue.object([
      ("b", [1, nil, true]),
      ("a", "\"\\\n\u{1}\u{7F}é😀\u{2028}/\u{85}\u{A0}\u{2027}\u{202E}\u{200F}\u{2066}\u{61C}\u{2067}"),
      ("empty", []),
      ("none", .object([])),
      ("share", .number(0.5)), ("wrong", .number(.nan)),
    ])
    #expect(
      value.compactText
        == #"{"b":[1,null,true],"a":"\"\\\n\u0001\u007fé😀\u2028/\u0085 ‧\u202e\u200f\u2066\u061c\u2067","empty":[],"none":{},"share":0.5,"wrong":null}"#
    )
  }

  @Test func `Indented text has a member a line`() {
    let value = JSONValue.object([("a", .strings(["x"])), ("b", [])])
    #expect(value.indentedText == "{\n  \"a\": [\n    \"x\"\n  ],\n  \"b\": []\n}")
  }
}
