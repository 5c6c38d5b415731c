extension DemoPodcast {
  static let all = [harbourLights, nightTrains, pocketOrchestra]

  private static let harbourLights = DemoPodcast(
    key: "harbour", id: 900_000_001, title: "Harbour Lights", author: "Ada Quay",
    description: "Waves, bells and the foghorn: a few seconds by the water.",
    episodes: [
      Episode(
        title: "A quiet harbour", published: 1_704_276_000, duration: 24,
        notes: "<p>The tide comes in; the <b>bell buoy</b> answers.</p>",
        transcript: [
          Cue(from: 0, to: 4, text: "[A foghorn, far out]"),
          Cue(from: 4, to: 12, text: "[Waves, and the bell buoy]"),
          Cue(from: 12, to: 24, text: "[The tide comes in]"),
        ],
        chapters: [Chapter(start: 0, title: "Foghorn"), Chapter(start: 12, title: "The tide comes in")]),
      Episode(
        title: "Fog on the breakwater", published: 1_704_880_800, duration: 18,
        notes: "<p>Nothing to be seen, much to be heard.</p>"),
      Episode(
        title: "The lamplighter's round", published: 1_705_485_600, duration: 20,
        notes: "<p>From lamp to lamp along the quay.</p>"),
      Episode(
        title: "Tide tables", published: 1_706_090_400, duration: 16, notes: "<p>High water at last.</p>"),
    ])

  private static let nightTrains = DemoPodcast(
    key: "trains", id: 900_000_002, title: "Night Trains", author: "Milo Signal",
    description: "Rails, wheels and a whistle: short journeys in the dark.",
    episodes: [
      Episode(
        title: "Departure at 23:10", published: 1_707_171_000, duration: 20,
        notes: "<p>Platform 4, on time.</p>"),
      Episode(
        title: "The dining car", published: 1_707_775_800, duration: 14, notes: "<p>Last orders.</p>"),
      Episode(
        title: "Points and crossings", published: 1_708_380_600, duration: 18,
        notes: "<p>Where the rails part.</p>"),
      Episode(title: "Arrival", published: 1_708_985_400, duration: 16, notes: "<p>All change, please.</p>"),
    ])

  private static let pocketOrchestra = DemoPodcast(
    key: "orchestra", id: 900_000_003, title: "Pocket Orchestra", author: "Ines Small",
    description: "Very small instruments, played with care.",
    episodes: [
      Episode(
        title: "Music box", published: 1_709_283_600, duration: 18, notes: "<p>Sixteen teeth, one tune.</p>"),
      Episode(
        title: "Four glasses of water", published: 1_709_888_400, duration: 16,
        notes: "<p>Fill them unequally.</p>"),
      Episode(
        title: "A comb and some paper", published: 1_710_493_200, duration: 14,
        notes: "<p>Hum; do not blow.</p>"),
      Episode(title: "Encore", published: 1_711_098_000, duration: 20, notes: "<p>All of them at once.</p>"),
    ])
}
