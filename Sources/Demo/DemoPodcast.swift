struct DemoPodcast {
  struct Episode {
    var title: String
    /// In seconds since 1970.
    var published: Int64
    /// In seconds.
    var duration: Int
    var notes: String
    var transcript: [Cue] = []
    var chapters: [Chapter] = []
  }

  struct Cue {
    var from: Int
    var to: Int
    var text: String
  }

  struct Chapter {
    var start: Int
    var title: String
  }

  /// Names its files and paths: "harbour".
  var key: String
  var id: Int64
  var title: String
  var author: String
  var description: String
  /// The newest last.
  var episodes: [Episode]

  var feedPath: String { "/\(key)/feed.xml" }
  var coverPath: String { "/\(key)/cover.png" }
  func audioPath(_ number: Int) -> String { "/\(key)/episode-\(number).mp3" }
  func transcriptPath(_ number: Int) -> String { "/\(key)/episode-\(number).vtt" }
  func chaptersPath(_ number: Int) -> String { "/\(key)/episode-\(number).json" }

  /// The embedded files: episodes count from 1.
  func audioFile(_ number: Int) -> String { "\(key)-\(number).mp3" }
  var coverFile: String { "\(key).png" }
}
