import PodcastModel
import Testing

struct ChapterListTests {
  private func list(_ text: String) -> ChapterList? { ChapterList(parsing: Array(text.utf8)) }

  @Test func `Chapters are in the order of their times`() {
    let chapters = list(
      #"""
      {"version": "1.2.0", "chapters": [
        {"startTime": 62.5, "title": " Fog\n horn ", "url": "https://a.example/fog"},
        {"startTime": "3", "title": "Start", "url": "javascript:x"},
        {"startTime": 5, "toc": false}, {"startTime": -1}, {"title": "no time"}, {"startTime": 1e300}, 7]}
      """#)
    #expect(chapters?.chapters.map(\.start) == [3000, 62_500])
    #expect(chapters?.chapters.map(\.title) == ["Start", "Fog horn"])
    #expect(chapters?.chapters.map { $0.link != nil } == [false, true])
  }

  @Test(arguments: ["", "[]", "{}", "{\"chapters\": 1}", "<html>"]) func `Anything else is none`(
    _ text: String
  ) {
    #expect(list(text) == nil)
  }
}
