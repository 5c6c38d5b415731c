import PodcastModel
import Testing

@Suite struct HTTPDateTests {
  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
  ])
  func theThreeFormsOfADateMeanTheSame(_ text: String) {
    #expect(DateText.seconds(text) == 784_111_777)
  }

  @Test(arguments: [
    "", "0", "-1", "120", "yesterday at noon in the harbour",
  ])
  func whatIsNoDateIsNone(_ text: String) { #expect(DateText.seconds(text) == nil) }

  @Test(
    arguments: [
      (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
      (1_709_164_800, "Thu, 29 Feb 2024 00:00:00 GMT"), (-86_400, "Wed, 31 Dec 1969 00:00:00 GMT"),
    ] as [(Int64, String)])
  func aDateIsWrittenInThePreferredFormAndReadBack(_ seconds: Int64, _ text: String) {
    #expect(CivilTime.http(seconds) == text)
    #expect(DateText.seconds(text) == seconds)
  }
}
