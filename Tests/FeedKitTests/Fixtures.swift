import FeedKit
import FoundationEssentials
import PodcastModel
import TestSupport

/// Files beside the tests' sources.
enum Fixtures {
  static let root =
    String(#filePath.prefix { _ in true }.reversed().drop { $0 != "/" }.reversed()) + "Fixtures/"

  static func bytes(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: root + path)))
  }

  /// The names of the files of a folder, sorted.
  static func names(in folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: root + folder)) ?? []).sorted()
  }

  static func decoded<Value: Decodable>(_ path: String, as type: Value.Type) throws -> Value {
    try JSONDecoder().decode(type, from: Data(try bytes(path)))
  }
}

extension FeedReader {
  /// The parser's process as it ships.
  static let shipped = FeedReader.program(Products.path("podcastfs"))

  func parse(_ bytes: [UInt8], baseURL: WebAddress? = nil, charset: String? = nil) throws -> ParsedFeed {
    try parse(FeedBody(bytes), baseURL: baseURL, httpCharset: charset)
  }
}

/// What the independent parsers agree on (`Fixtures/MANIFEST.md`): only keys that are present count.
struct ExpectedFeed: Decodable {
  struct Channel: Decodable {
    var title: String?
  }

  struct Episode: Decodable {
    var index: Int
    var title: Agreed<String>
    var guid: Agreed<String>
    var published: Agreed<String>
    var duration: Agreed<Int>
    var enclosures: Agreed<[Enclosure]>

    enum CodingKeys: String, CodingKey {
      case index, title, guid, enclosures
      case published = "pub_date"
      case duration = "duration_s"
    }

    init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      index = try values.decode(Int.self, forKey: .index)
      title = try Agreed(values, .title)
      guid = try Agreed(values, .guid)
      published = try Agreed(values, .published)
      duration = try Agreed(values, .duration)
      enclosures = try Agreed(values, .enclosures)
    }
  }

  struct Enclosure: Decodable, Equatable {
    var url: String
    var type: String?
    var length: Int64?
  }

  var channel: Channel
  var episodes: [Episode]
}

/// A value that the parsers agree on, which may be that there is none; or one that they do not agree on.
enum Agreed<Value: Decodable & Equatable>: Equatable {
  case value(Value?)
  case notAgreed

  init<Key: CodingKey>(_ values: KeyedDecodingContainer<Key>, _ key: Key) throws {
    self = values.contains(key) ? .value(try values.decodeIfPresent(Value.self, forKey: key)) : .notAgreed
  }

  func allows(_ actual: Value?) -> Bool { self == .notAgreed || self == .value(actual) }
}
