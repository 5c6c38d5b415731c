import CLI
import Testing

@Suite struct HumanTextTests {
  @Test(
    arguments: [
      (0, "0 B"), (1023, "1023 B"), (1024, "1.00 KiB"), (1_310_720, "1.25 MiB"), (28_416_410, "27.1 MiB"),
      (1_048_575, "1.00 MiB"), (536_870_912, "512 MiB"), (1 << 30, "1.00 GiB"), (-5, "0 B"),
      (.max, "8.00 EiB"),
    ] as [(Int64, String)])
  func sizesHaveThreeDigitsAndAUnit(_ bytes: Int64, _ text: String) {
    #expect(HumanText.size(bytes) == text)
  }

  @Test(
    arguments: [
      (0, "0:00"), (7, "0:07"), (200, "3:20"), (3723, "1:02:03"), (190_800, "53:00:00"), (450_000, "5 d 5 h"),
    ] as [(Int64, String)])
  func durationsAreReadAsClocks(_ seconds: Int64, _ text: String) {
    #expect(HumanText.duration(seconds) == text)
  }

  @Test(
    arguments: [
      (0, "just now"), (59, "just now"), (60, "1 minute ago"), (7199, "119 minutes ago"),
      (7200, "2 hours ago"), (86_400, "24 hours ago"), (3 * 86_400, "3 days ago"),
      (20 * 86_400, "2 weeks ago"),
      (100 * 86_400, "3 months ago"), (800 * 86_400, "2 years ago"), (-600, "in 10 minutes"),
    ] as [(Int64, String)])
  func agesAreInTheUnitOfWhichThereAreTwo(_ seconds: Int64, _ text: String) {
    #expect(HumanText.ago(seconds) == text)
  }
}
