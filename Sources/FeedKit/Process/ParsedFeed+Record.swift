internal import PodcastModel
internal import PosixKit

// How what a document holds goes from the process that parsed it to the one that asked.
extension ParsedFeed {
  /// All but the episodes, which have gone before.
  func write(to record: inout RecordWriter) throws(PosixError) {
    for text in [title, author, description, language, owner, guid, type] {
      record.write(text) { $0.write($1) }
    }
    for address in [link, imageURL, newFeedURL, nextPageURL, selfURL] {
      record.write(address) { $0.write($1) }
    }
    record.write(explicit) { $0.write($1) }
    record.write(isComplete)
    record.write(timeToLive) { $0.write(Int64($1)) }
    try record.write(categories) { $0.write($1) }
    try record.write(warnings) { $0.write($1) }
    record.write(ending.rawValue)
    for count in [itemCount, episodeCount, pageCount] { record.write(UInt64(count)) }
  }

  /// All but the episodes.
  init(from record: inout RecordReader) throws(RecordReader.Damaged) {
    title = try record.optionalText()
    author = try record.optionalText()
    description = try record.optionalText()
    language = try record.optionalText()
    owner = try record.optionalText()
    guid = try record.optionalText()
    type = try record.optionalText()
    link = try record.optionalAddress()
    imageURL = try record.optionalAddress()
    newFeedURL = try record.optionalAddress()
    nextPageURL = try record.optionalAddress()
    selfURL = try record.optionalAddress()
    explicit = try record.optionalFlag()
    isComplete = try record.flag()
    timeToLive = try record.optionalNumber()
    categories = try record.list { record throws(RecordReader.Damaged) in try record.text() }
    warnings = try record.list { record throws(RecordReader.Damaged) in try record.text() }
    guard let ending = Ending(rawValue: try record.number()) else { throw RecordReader.Damaged() }
    self.ending = ending
    itemCount = Int(truncatingIfNeeded: try record.number())
    episodeCount = Int(truncatingIfNeeded: try record.number())
    pageCount = Int(truncatingIfNeeded: try record.number())
  }
}

extension ParsedEpisode {
  func write(to record: inout RecordWriter) throws(PosixError) {
    record.write(UInt64(index))
    for text in [title, guid, episodeType] { record.write(text) { $0.write($1) } }
    record.write(published) { $0.write($1) }
    for number in [duration, season, episode] { record.write(number) { $0.write(Int64($1)) } }
    for address in [link, imageURL, chaptersURL] { record.write(address) { $0.write($1) } }
    record.write(explicit) { $0.write($1) }
    try record.write(enclosures) { record, enclosure in
      record.write(enclosure.url)
      record.write(enclosure.address == enclosure.url ? nil : enclosure.address) { $0.write($1) }
      record.write(enclosure.type) { $0.write($1) }
      record.write(enclosure.length) { $0.write($1) }
    }
    try record.write(transcripts) { record, transcript in
      record.write(transcript.url)
      record.write(transcript.type) { $0.write($1) }
      record.write(transcript.language) { $0.write($1) }
    }
    record.write(notes) { $0.write($1) }
  }

  /// - Parameter room: bytes of show notes that may still be kept in memory; the rest stays in the file.
  init(from record: inout RecordReader, room: inout Int) throws(RecordReader.Damaged) {
    index = Int(truncatingIfNeeded: try record.number())
    title = try record.optionalText()
    guid = try record.optionalText()
    episodeType = try record.optionalText()
    published = try record.optional { record throws(RecordReader.Damaged) in try record.signed() }
    duration = try record.optionalNumber()
    season = try record.optionalNumber()
    episode = try record.optionalNumber()
    link = try record.optionalAddress()
    imageURL = try record.optionalAddress()
    chaptersURL = try record.optionalAddress()
    explicit = try record.optionalFlag()
    enclosures = try record.list { record throws(RecordReader.Damaged) in
      let url = try record.address()
      let address = try record.optionalAddress()
      let type = try record.optionalText()
      let length = try record.optional { record throws(RecordReader.Damaged) in try record.signed() }
      return Enclosure(url: url, type: type, length: length, address: address)
    }
    transcripts = try record.list { record throws(RecordReader.Damaged) in
      let url = try record.address()
      let type = try record.optionalText()
      return Transcript(url: url, type: type, language: try record.optionalText())
    }
    if try record.flag() { spooledNotes = try record.spooledText(room: &room) }
  }
}

extension OPMLDocument {
  func write(to record: inout RecordWriter) throws(PosixError) {
    record.write(title) { $0.write($1) }
    try record.write(feeds) { record, feed in
      record.write(feed.url)
      for text in [feed.title, feed.name] { record.write(text) { $0.write($1) } }
      record.write(feed.htmlURL) { $0.write($1) }
    }
    try record.write(warnings) { $0.write($1) }
    record.write(UInt64(refusals))
    record.write(link) { $0.write($1) }
  }

  init(from record: inout RecordReader) throws(RecordReader.Damaged) {
    title = try record.optionalText()
    feeds = try record.list { record throws(RecordReader.Damaged) in
      let url = try record.address()
      let (title, name) = (try record.optionalText(), try record.optionalText())
      return Feed(url: url, title: title, name: name, htmlURL: try record.optionalAddress())
    }
    warnings = try record.list { record throws(RecordReader.Damaged) in try record.text() }
    refusals = Int(truncatingIfNeeded: try record.number())
    link = try record.optionalText()
  }
}

extension ForeignDocument {
  func write(to record: inout RecordWriter) throws(PosixError) {
    record.write(kind.rawValue)
    record.write(root) { $0.write($1) }
    try record.write(feeds) { $0.write($1) }
  }

  init(from record: inout RecordReader) throws(RecordReader.Damaged) {
    guard let kind = Kind(rawValue: try record.number()) else { throw RecordReader.Damaged() }
    self.kind = kind
    root = try record.optionalText()
    feeds = try record.list { record throws(RecordReader.Damaged) in try record.address() }
  }
}

extension RecordReader {
  mutating func optionalText() throws(Damaged) -> String? { try flag() ? try text() : nil }

  fileprivate mutating func optionalAddress() throws(Damaged) -> WebAddress? {
    try flag() ? try address() : nil
  }

  fileprivate mutating func optionalFlag() throws(Damaged) -> Bool? { try flag() ? try flag() : nil }

  fileprivate mutating func optionalNumber() throws(Damaged) -> Int? {
    try flag() ? Int(truncatingIfNeeded: try signed()) : nil
  }
}
