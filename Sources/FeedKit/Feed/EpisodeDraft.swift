internal import PodcastModel

/// The best of the values that several elements give for the same thing, whatever their order: the one of the highest
/// rank, of equal ranks the first.
struct Ranked<Value> {
  private(set) var value: Value?
  private(set) var rank = 0

  mutating func offer(_ other: Value?, rank: Int) {
    guard rank > self.rank, let other else { return }
    (value, self.rank) = (other, rank)
  }
}

/// What channels and items say alike.
struct FeedFacts {
  var title = Ranked<String>()
  var notes = Ranked<String>()
  var author = Ranked<String>()
  var link = Ranked<WebAddress>()
  var image = Ranked<WebAddress>()
  var explicit: Bool?
  private(set) var people: [String] = []

  mutating func addPerson(_ name: String) {
    if people.count < 50, !people.contains(name) { people.append(name) }
  }
}

/// What an element says of the file that it, or its text, names.
struct FileDescription {
  let type: String?
  let length: Int64?

  init(_ element: XMLElement, length: StaticString = "length") {
    type = element.attribute("type")
    self.length = element.attributeBytes(length).flatMap(FeedText.wholeNumber)
  }
}

/// What an item has said so far.
struct EpisodeDraft {
  typealias Enclosure = ParsedEpisode.Enclosure

  /// What names a file, the best first.
  enum FileKind: CaseIterable { case enclosure, link, mediaContent, alternate }
  var episode: ParsedEpisode
  var facts = FeedFacts()
  var guid = Ranked<String>()
  var published = Ranked<Int64>()
  var chapters: [ChapterList.Chapter] = []
  var files: [(kind: FileKind, file: Enclosure)] = []
  /// Of `podcast:alternateEnclosure`.
  var described: FileDescription?
  /// Why a file of the item was left out.
  var leftOut: String?
  static let most = 50

  init(index: Int) { episode = ParsedEpisode(index: index) }

  consuming func finish(_ warnings: inout FeedWarnings) -> ParsedEpisode? {
    let found = enclosures
    guard !found.isEmpty else {
      warnings.add(leftOut ?? "an item has no enclosure")
      return nil
    }
    (episode.title, episode.guid, episode.published) = (facts.title.value, guid.value, published.value)
    (episode.imageURL, episode.notes, episode.enclosures) = (facts.image.value, facts.notes.value, found)
    (episode.link, episode.explicit, episode.people) = (facts.link.value, facts.explicit, facts.people)
    if !chapters.isEmpty { episode.chapters = ChapterList(chapters).text }
    return episode
  }

  /// All files of the first kind that there is. If none of them is audio or video, those of the next kind that has audio or
  /// video are appended.
  private var enclosures: [Enclosure] {
    if files.count == 1 { return [files[0].file] }
    let kinds = FileKind.allCases.map { kind in files.filter { $0.kind == kind }.map(\.file) }
    guard let first = kinds.first(where: { !$0.isEmpty }) else { return [] }
    let playable = kinds.first { $0.contains { MediaType.isAudioOrVideo(type: $0.type, url: $0.url) } }
    return if let playable, playable != first { first + playable } else { first }
  }
}

/// Warnings for a reader of `podcastfs feed`, each once, with how often it was.
struct FeedWarnings {
  private let most: Int
  private var counts: [(text: String, count: Int)] = []
  private var places: [String: Int] = [:]

  init(most: Int = 50) { self.most = most }

  mutating func add(_ text: String) {
    if let place = places[text] {
      counts[place].count += 1
    } else if counts.count < most {
      places[text] = counts.count
      counts.append((text, 1))
    }
  }

  var count: Int { counts.count }
  var lines: [String] { counts.map { $0.count == 1 ? $0.text : "\($0.text) (\($0.count) times)" } }
}
