import PodcastModel
import PosixKit
import Testing

@Suite struct PrintableTextTests {
  /// ESC, CSI as one character (C1), DEL, bell, backspace, marks of direction, byte order.
  private static let harmful = [
    "\u{1B}[2J", "\u{1B}]0;x\u{7}", "\u{9B}1A", "\u{7F}", "\u{7}", "\u{8}", "\u{202E}", "\u{2066}",
    "\u{200F}",
    "\u{61C}", "\u{FEFF}", "\u{0}", "\u{90}", "\u{1B}c", "\u{1B}[31", "\u{1B}[1;1H", "\u{1B}",
  ]

  @Test(arguments: harmful)
  func `Nothing of a stranger's text moves the cursor`(text: String) {
    for shown in [
      PrintableText.line("a\(text)b"), PrintableText.block("a\(text)b"),
      PrintableText.block("a\(text)b", keepsStyle: true),
    ] {
      #expect(shown.first == "a" && shown.last == "b")
      #expect(!shown.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) })
      #expect(!shown.unicodeScalars.contains { $0.properties.generalCategory == .format })
    }
  }

  @Test(arguments: ["\n", "\r", "\r\n", "\u{2028}", "\u{2029}", "\u{85}", "\t", "\u{B}\u{C}", "\n \n"])
  func `A line stays one line`(text: String) {
    #expect(["a b", "a  b"].contains(PrintableText.line("a\(text)b")))
    #expect(!PrintableText.block("a\u{2028}\r\u{85}b").contains { $0.isNewline })
  }

  @Test func `What is harmless stays as it is`() {
    for text in ["plain", "Grüße 日本 👩\u{200D}🚀 é", "می\u{200C}خواهم", ""] {
      #expect(PrintableText.line(text) == text && PrintableText.block(text) == text)
    }
    #expect(PrintableText.block("a\nb\tc") == "a\nb\tc")
    #expect(PrintableText.block("\u{1B}[1;31mred\u{1B}[m", keepsStyle: true) == "\u{1B}[1;31mred\u{1B}[m")
    #expect(PrintableText.block("\u{1B}[1;31mred\u{1B}[m") == "[1;31mred[m")
  }
}
