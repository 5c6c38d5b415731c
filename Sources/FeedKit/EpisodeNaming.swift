internal import PodcastModel

/// Names the new episodes of one podcast: `<date> - <Title>`, so that names sort as the episodes were published
/// (Documentation/Semantics.md, Names).
///
/// An episode that shares its day with another one has its hour in the name, `<date> 1830 - <Title>`; where two of the
/// day have the same hour and minute or none, a number, `<date> 002 - <Title>`. A number begins with the hour where
/// other names of that day have hours: `181` for the first one after 18:00, which sorts behind `1800`.
package struct EpisodeNaming: Sendable {
  package struct Name: Sendable {
    /// The item's place among those that were given.
    package var place: Int
    /// The name before its extension.
    package var stem: String
    /// The file's time of modification, in seconds since 1970.
    package var modified: Int64
  }

  /// What is known of the episodes of one day. Their hours are numbers like 1830.
  private struct Day {
    var count = 0
    var hours: Set<Int> = []
    /// The highest number in the names of an hour's episodes.
    var numbers: [Int: Int] = [:]
    var hasHours = false
  }

  private let now: Int64
  private let isSerial: Bool
  private var names = UniqueNames()
  /// What is known of each day. The key is the day's number (`CivilTime.day`).
  private var days: [Int64: Day] = [:]
  /// For a time of modification that is taken, one that may be free.
  private var laterTimes: [Int64: Int64] = [:]

  /// - Parameters:
  ///   - isSerial: whether episodes are to be heard in order (`itunes:type`).
  ///   - now: seconds since 1970; an item without a date counts as published then.
  package init(isSerial: Bool, now: Int64) {
    (self.isSerial, self.now) = (isSerial, now)
  }

  /// Notes an episode that has a name.
  package mutating func add(stem: String, published: Int64, isDated: Bool, modified: Int64) {
    names.insert(stem)
    _ = freeTime(from: modified)
    let (day, hour) = (CivilTime.day(published), CivilTime.hour(published))
    var known = days[day] ?? Day()
    known.count += 1
    if isDated { known.hours.insert(hour) }
    // "2024-01-03 1830 - Title"
    let digits = stem.utf8.dropFirst(11).prefix { (48...57).contains($0) }
    if digits.count >= 3, stem.hasPrefix(CivilTime.date(published) + " ") {
      // A number has four digits only where a day has a thousand episodes.
      if digits.count == 4, isDated {
        known.hasHours = true
      } else if let number = Int(Substring(digits)) {
        known.numbers[hour] = max(known.numbers[hour] ?? 0, number)
      }
    }
    days[day] = known
  }

  /// Names items, in the order of their publication.
  /// - Parameter isNewestFirst: see `isNewestFirst(_:)`, of the whole feed.
  package mutating func name(_ items: [ParsedEpisode], isNewestFirst: Bool) -> [Name] {
    let order = order(items, isNewestFirst: isNewestFirst)
    let groups = Dictionary(grouping: order) { CivilTime.day(items[$0].publication(now: now) ?? now) }
    var marks = Array(repeating: "", count: items.count)
    for (day, places) in groups {
      let times = places.map { items[$0].publication(now: now) }
      for (place, mark) in zip(places, self.marks(days[day] ?? Day(), times)) { marks[place] = mark }
    }
    return order.map { place in
      let item = items[place]
      let title = item.shownTitle
      let mark = marks[place] + (isSerial ? item.serialMark(beside: title) : "")
      let published = item.publication(now: now) ?? now
      let stem = EpisodeName.stem(
        published: published, marks: mark, title: title, fileExtension: item.fileExtension)
      return Name(place: place, stem: names.claim(stem), modified: freeTime(from: published))
    }
  }

  /// The first second from a time on that no episode of the podcast has for its time of modification. Takes it.
  package mutating func freeTime(from time: Int64) -> Int64 {
    var free = time
    while let later = laterTimes[free] { free = later }
    laterTimes[free] = free + 1
    if free != time { laterTimes[time] = free + 1 }
    return free
  }

  /// Whether a feed lists its newest item first, by the dates of its items, or, where they tell nothing, by where it lists
  /// those that are known, or by the numbers in the titles.
  /// - Parameter isKnown: whether the item at a place was listed before.
  package func isNewestFirst(_ items: [ParsedEpisode], isKnown: (Int) -> Bool = { _ in false }) -> Bool {
    let times = items.compactMap { $0.publication(now: now) }
    if let first = times.first, let last = times.last, first != last { return first > last }
    let known = items.indices.filter(isKnown)
    // The mean place of the known against that of all: where they differ, the new ones are on the other side.
    let (ofKnown, ofAll) = (known.reduce(0, +) * items.count, items.indices.reduce(0, +) * known.count)
    if ofKnown != ofAll { return ofKnown > ofAll }
    let numbers = items.compactMap { item in
      Int((item.title ?? "").drop { !$0.isASCII || !$0.isNumber }.prefix { $0.isASCII && $0.isNumber })
    }
    let pairs = zip(numbers, numbers.dropFirst())
    return pairs.count { $0 > $1 } > pairs.count { $0 < $1 }
  }

  /// The places of items in the order of publication: by date, then by season and number where all of the same date have
  /// them, else in the feed's order.
  private func order(_ items: [ParsedEpisode], isNewestFirst: Bool) -> [Int] {
    let times = items.map { $0.publication(now: now) ?? now }
    let unnumbered = Set(items.indices.filter { items[$0].episode == nil }.map { times[$0] })
    let keys = items.indices.map { place in
      let numbers =
        unnumbered.contains(times[place]) ? nil : (items[place].season ?? 0, items[place].episode ?? 0)
      return (times[place], numbers?.0 ?? 0, numbers?.1 ?? 0, isNewestFirst ? -place : place)
    }
    return items.indices.sorted { keys[$0] < keys[$1] }
  }

  /// What stands behind the date of each new episode of a day.
  /// - Parameter times: in the order of publication.
  private func marks(_ known: Day, _ times: [Int64?]) -> [String] {
    if known.count + times.count == 1 { return [""] }
    if known.hasHours { return marksAmongHours(known, times) }
    let last = known.numbers.values.max() ?? 0
    let hours = times.map { $0.map(CivilTime.hour) }
    let all = known.hours.union(hours.compactMap(\.self))
    if last == 0, all.count == known.count + times.count { return hours.map { Self.mark($0 ?? 0, 4) } }
    let first = max(last, known.count) + 1
    let width = max(3, String(first + times.count - 1).count)
    return times.indices.map { Self.mark(first + $0, width) }
  }

  private static func mark(_ number: Int, _ width: Int) -> String { " " + CivilTime.padded(number, width) }

  /// On a day of which names have hours: the hour, or a number that sorts behind it where the minute is another's too
  /// or the date is unknown.
  private func marksAmongHours(_ known: Day, _ times: [Int64?]) -> [String] {
    var numbers = known.numbers
    let rivals = Dictionary(grouping: times.compactMap { $0.map(CivilTime.hour) }, by: \.self)
    return times.map { time in
      let hour = CivilTime.hour(time ?? now)
      // "1800" to "1809" sort before "181".
      let tens = hour / 10
      let last = numbers.filter { $0.key <= hour }.values.max() ?? 0
      if time != nil, !known.hours.contains(hour), rivals[hour]?.count == 1, tens >= last {
        return Self.mark(hour, 4)
      }
      let number = max(tens, last) + 1
      numbers[hour] = number
      return Self.mark(number, 3)
    }
  }
}

extension ParsedEpisode {
  /// The title, or where there is none the name of the file that the address names.
  fileprivate var shownTitle: String {
    if let title, !FileNameText.cleaned(TitleText.plain(title)).isEmpty { return title }
    guard let last = enclosure?.url.parts?.path.split(separator: "/").last else { return "" }
    let file = String(decoding: PercentEncoding.decode(last.utf8), as: UTF8.self)
    return file.lastIndex(of: ".").map { String(file[..<$0]) } ?? file
  }

  /// " - S02E01", where there are both numbers and the title does not say them.
  fileprivate func serialMark(beside title: String) -> String {
    guard let season, let episode, season >= 0, episode >= 0 else { return "" }
    let numbers = title.split { !$0.isASCII || !$0.isNumber }.compactMap { Int($0) }
    if zip(numbers, numbers.dropFirst()).contains(where: { $0 == (season, episode) }) { return "" }
    return " - S" + CivilTime.padded(season, 2) + "E" + CivilTime.padded(episode, 2)
  }
}
