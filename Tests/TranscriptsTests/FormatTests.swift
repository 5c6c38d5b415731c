import Testing
import Transcripts

/// Transcripts as feeds and programs write them.
@Suite struct FormatTests {
  private func cues(_ text: String) -> [Cue] {
    let bytes = Array(text.utf8)
    return TranscriptFormat(of: bytes).cues(bytes)
  }

  private func lines(_ text: String) -> [String] {
    cues(text).map { "\($0.start)-\($0.end) \($0.speaker.map { "\($0): " } ?? "")\($0.text)" }
  }

  @Test func aWebVTTWithVoicesNotesAndStyles() {
    let text = """
      WEBVTT - of an episode

      STYLE
      ::cue { color: red }

      NOTE 00:01 is no time here

      one
      00:01.000 --> 00:04.500 position:10%
      <v Ada Quay>Fog &amp; rain on the <i>breakwater</i>.

      00:00:05.000 --> 00:00:06.000
      <v.loud Ben>Is <00:00:05.500>it?
      - It is.

      00:07.000 --> 00:08.000

      """
    #expect(
      lines(text) == [
        "1000-4500 Ada Quay: Fog & rain on the breakwater.", "5000-6000 Ben: Is it? - It is.",
      ])
  }

  @Test(arguments: ["\n", "\r\n", "\r"]) func aSubRipWhateverItsLineEnds(end: String) {
    let text = [
      "\u{FEFF}1", "00:00:01,000 --> 00:00:02,250", "Good evening", "from the harbour.", "", "2",
      "01:00:03,5 --> 01:00:04,000", "{\\an8}<b>2 < 3</b>", "3", "01:00:05,000 --> 01:00:06,000",
      "Nothing parts it from the one before.",
    ].joined(separator: end)
    #expect(
      lines(text) == [
        "1000-2250 Good evening from the harbour.", "3603500-3604000 2 < 3",
        "3605000-3606000 Nothing parts it from the one before.",
      ])
  }

  @Test func theJSONOfFeedsAndOfWhisper() {
    let ofFeed = """
      {"version": "1.0.0", "segments": [
        {"speaker": "Ada", "startTime": 0.5, "endTime": 5, "body": "Good evening."}, {"body": ""}, 7,
        {"startTime": "6.25", "endTime": 7, "body": "Fog."}]}
      """
    #expect(lines(ofFeed) == ["500-5000 Ada: Good evening.", "6250-7000 Fog."])
    let ofWhisper =
      #"{"text": "a b", "segments": [{"id": 0, "start": 0.0, "end": 2.5, "text": " Good evening."}]}"#
    #expect(lines(ofWhisper) == ["0-2500 Good evening."])
    #expect(lines(#"[{"startTime": 1, "body": "Alone."}]"#) == ["1000-1000 Alone."])
    #expect(lines(#"{"segments": [{"#).isEmpty)
  }

  @Test func theHTMLOfFeeds() {
    let text = """
      <!DOCTYPE html><html><head><title>No words</title><style>p { margin: 0 }</style></head><body>
      <cite>Ada:</cite>
      <time>0:01</time>
      <p>Good evening &amp; welcome<br>to the <b>harbour</b>.</p>
      <cite>Ben:</cite> <time>1:00:05</time> <p>Fog.</p>
      """
    #expect(
      lines(text) == [
        "1000-2600 Ada: Good evening & welcome", "2600-3800 Ada: to the harbour.",
        "3605000-3605400 Ben: Fog.",
      ])
  }

  @Test func aTextWithTimesAndOneWithout() {
    let timed = "[00:10] Ada: Good evening.\n(1:02:03) Fog.\n02:30 Ben: Rain."
    #expect(
      lines(timed) == ["10000-11200 Ada: Good evening.", "3723000-3723400 Fog.", "150000-150800 Ben: Rain."])
    let words = (0..<45).map { "word\($0)" }.joined(separator: " ")
    #expect(cues("First line.\n\n" + words).map(\.start) == [0, 800, 8800, 16800])
  }

  @Test(arguments: ["", "\u{0}\u{1}", "WEBVTT", "{", "<", "[", "00:01 -->", "00:01.000 --> x", "\u{FEFF}"])
  func nothingIsMadeOfNonsense(text: String) {
    #expect(cues(text).allSatisfy { !$0.text.isEmpty })
  }

  /// Of bytes that are no UTF-8 the rest is read.
  @Test func brokenCharactersAreReplaced() {
    let bytes = Array("WEBVTT\n\n00:01.000 --> 00:02.000\nfog ".utf8) + [0xFF, 0xFE] + Array(" bell\n".utf8)
    #expect(TranscriptFormat(of: bytes).cues(bytes).map(\.text) == ["fog \u{FFFD}\u{FFFD} bell"])
  }
}
