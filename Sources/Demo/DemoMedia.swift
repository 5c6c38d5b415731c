internal import CDemoMedia
internal import HTTPServerKit

enum DemoMedia {
  /// How many bytes a file has; 0 where there is none.
  static func size(_ name: String) -> Int { bytes(name)?.count ?? 0 }

  /// A file as the server gives it, by its name: "harbour-1.mp3".
  static func content(_ name: String) -> ServedContent? {
    guard let bytes = bytes(name) else { return nil }
    return ServedContent(Array(bytes), mediaType: name.hasSuffix(".png") ? "image/png" : "audio/mpeg")
  }

  /// A constant of the program: there as long as it runs.
  private static func bytes(_ name: String) -> UnsafeRawBufferPointer? {
    var count = 0
    let first = podcastfs_demo_files(&count)
    let file = UnsafeBufferPointer(start: first, count: count).first { String(cString: $0.name) == name }
    return file.map { UnsafeRawBufferPointer(start: $0.bytes, count: $0.size) }
  }
}
