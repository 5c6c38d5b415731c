import PodcastModel
import Testing

@Suite struct CivilTimeTests {
  @Test(arguments: [
    (Int64(0), "1970-01-01T00:00:00Z"), (1_704_276_000, "2024-01-03T10:00:00Z"), (-1, "1969-12-31T23:59:59Z"),
    (951_782_400, "2000-02-29T00:00:00Z"), (-2_203_891_200, "1900-03-01T00:00:00Z"),
    (253_402_300_799, "9999-12-31T23:59:59Z"), (4_107_542_400, "2100-03-01T00:00:00Z"),
  ])
  func `Seconds become ISO 8601`(seconds: Int64, text: String) {
    #expect(CivilTime.iso8601(seconds) == text)
  }
}
