internal import Catalog
internal import PodcastModel

/// Any bytes give podcasts or an error; what they give has only addresses that may be asked for.
enum AnswerFuzzing {
  static func run(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    for podcast in (try? AppleAnswer(Array(bytes)))?.podcasts ?? [] {
      precondition(podcast.feedURL.isWeb, podcast.feedURL.forRequest)
      precondition(!podcast.title.isEmpty && !podcast.title.contains("\n"), podcast.title)
      _ = FeedKey.text(podcast.feedURL)
    }
    let text = String(decoding: bytes, as: UTF8.self)
    let query = SearchQuery(parsing: text)
    precondition(SearchQuery(parsing: query.terms).terms.split(separator: " ").count <= text.utf8.count)
    let shown = WebAddress(text).shown
    precondition(WebAddress(shown).shown == shown, text)
    return 0
  }
}
