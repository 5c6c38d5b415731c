/// Which extension an enclosure's file gets, and which media type a file name stands for: one fixed table,
/// so that nothing a host sends makes a program out of an episode.
package enum MediaType {
  /// The extension with its dot for a file of this media type and address: by the type, where it is one
  /// of the table; else by the ending of the address's path, where that is one of the table; else ".mp3", but
  /// for web pages.
  package static func fileExtension(type: String?, url: WebAddress) -> String {
    if let type, let found = extensions[essence(type)],
      !(yieldsToEnding(essence(type)) && hasPlayableEnding(url))
    {
      return "." + found
    }
    if let ending = pathEnding(of: url), let found = types[ending], isEnclosure(found) {
      return "." + (sameAs[ending] ?? ending)
    }
    return type.map(essence) == "text/html" ? ".html" : ".mp3"
  }

  /// The extension with its dot for a transcript: ".vtt" or ".srt", which players show as subtitles; nil for
  /// other kinds.
  package static func transcriptExtension(type: String?, url: WebAddress) -> String? {
    switch type.map(essence) ?? "" {
    case "text/vtt": return ".vtt"
    case "application/srt", "application/x-subrip", "text/srt", "application/x-srt": return ".srt"
    default:
      guard let ending = pathEnding(of: url), ["vtt", "srt"].contains(ending) else { return nil }
      return "." + ending
    }
  }

  /// The extension with its dot for an image: by its type, else by its address, else ".jpg".
  package static func imageExtension(type: String?, url: WebAddress) -> String {
    let byType = type.flatMap { extensions[essence($0)] }
    guard let found = byType ?? pathEnding(of: url), types[found]?.hasPrefix("image/") == true else {
      return ".jpg"
    }
    return "." + (sameAs[found] ?? found)
  }

  /// The media type for a file name or an extension with its dot: "audio/mpeg"; nil where the table does
  /// not have it.
  package static func type(forFileName name: String) -> String? {
    guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return nil }
    return types[name[name.utf8.index(after: dot)...].lowercased()]
  }

  /// A media type lower-case and without its parameters: "audio/mpeg" for "Audio/MPEG; charset=UTF-8".
  package static func essence(_ type: String) -> String {
    let first = type.utf8.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",") }
    var trimmed = Substring(first.drop { $0 <= 0x20 }).utf8
    while let last = trimmed.last, last <= 0x20 { trimmed.removeLast() }
    return Substring(trimmed).lowercased()
  }

  /// Whether an enclosure is something to listen to or to watch: by its type, or, where that says nothing,
  /// by the ending of its address.
  package static func isAudioOrVideo(type: String?, url: WebAddress) -> Bool {
    if let type {
      let essence = essence(type)
      if essence.hasPrefix("audio/") || essence.hasPrefix("video/") { return true }
      if let found = extensions[essence], !yieldsToEnding(essence) {
        return types[found].map(isPlayable) ?? false
      }
      if !essence.isEmpty, !yieldsToEnding(essence), essence.contains("/") { return false }
    }
    return hasPlayableEnding(url)
  }

  /// Whether an enclosure is a list of addresses of streams (HLS, RFC 8216; DASH; M3U; PLS; XSPF), which is no file to download.
  package static func isPlaylist(type: String?, url: WebAddress) -> Bool {
    if let type, playlists.contains(essence(type)) { return true }
    return pathEnding(of: url).map { ["m3u8", "m3u", "mpd", "pls", "xspf"].contains($0) } ?? false
  }

  private static let playlists: Set<String> = [
    "application/vnd.apple.mpegurl", "application/x-mpegurl", "application/mpegurl", "audio/mpegurl",
    "audio/x-mpegurl", "application/dash+xml", "audio/x-scpls", "audio/scpls", "application/xspf+xml",
  ]

  /// Whether a type says less of an enclosure than an ending of audio or video: it says nothing, or it is that of the
  /// episode's picture or page.
  private static func yieldsToEnding(_ essence: String) -> Bool {
    unspecific.contains(essence) || essence.hasPrefix("image/")
  }

  private static func hasPlayableEnding(_ url: WebAddress) -> Bool {
    pathEnding(of: url).flatMap { types[$0] }.map(isPlayable) ?? false
  }

  /// Whether an enclosure is surely something else: a picture, a page, a torrent, a book.
  package static func isOther(type: String?, url: WebAddress) -> Bool {
    !isAudioOrVideo(type: type, url: url)
      && types[String(fileExtension(type: type, url: url).dropFirst())].map(isPlayable) == false
  }

  private static func isPlayable(_ type: String) -> Bool {
    type.hasPrefix("audio/") || type.hasPrefix("video/")
  }

  /// Not what sidecars are: they share the stem of their episode.
  private static func isEnclosure(_ type: String) -> Bool {
    isPlayable(type) || type.hasPrefix("image/") || type == "text/html"
      || type.hasPrefix("application/") && type != "application/json" && type != "application/x-subrip"
  }

  /// The part after the last dot of the path's last component, lower-case; nil where there is none.
  private static func pathEnding(of address: WebAddress) -> String? {
    guard let path = address.parts?.path, let slash = path.lastIndex(of: "/") else { return nil }
    let component = path[path.index(after: slash)...]
    guard let dot = component.lastIndex(of: ".") else { return nil }
    let ending = component[component.index(after: dot)...]
    guard (1...7).contains(ending.utf8.count) else { return nil }
    return ending.lowercased()
  }

  /// Types that say nothing about the content.
  private static let unspecific: Set<String> = [
    "application/octet-stream", "binary/octet-stream", "application/binary", "application/x-download",
    "application/force-download", "application/unknown", "unknown/unknown", "text/plain", "text/html",
  ]

  /// Endings that mean the same as the one that files get.
  private static let sameAs = [
    "oga": "ogg", "wave": "wav", "qt": "mov", "mpga": "mp3", "mpeg": "mpg", "ogm": "ogv", "aif": "aiff",
    "jpeg": "jpg", "htm": "html",
  ]

  /// Extension (without its dot) of each media type.
  private static let extensions: [String: String] = [
    "audio/mpeg": "mp3", "audio/mp3": "mp3", "audio/x-mp3": "mp3", "audio/x-mpeg": "mp3",
    "audio/mpeg3": "mp3", "audio/x-mpeg-3": "mp3", "audio/mpg": "mp3", "audio/x-mpg": "mp3",
    "audio/mp4": "m4a", "audio/m4a": "m4a", "audio/x-m4a": "m4a", "audio/mp4a-latm": "m4a",
    "audio/x-mp4": "m4a", "audio/alac": "m4a",
    "audio/m4b": "m4b", "audio/x-m4b": "m4b",
    "audio/aac": "aac", "audio/x-aac": "aac", "audio/aacp": "aac", "audio/x-hx-aac-adts": "aac",
    "audio/ogg": "ogg", "audio/vorbis": "ogg", "audio/x-ogg": "ogg", "audio/x-vorbis": "ogg",
    "audio/x-vorbis+ogg": "ogg", "application/ogg": "ogg",
    "audio/opus": "opus", "audio/x-opus+ogg": "opus",
    "audio/flac": "flac", "audio/x-flac": "flac",
    "audio/wav": "wav", "audio/x-wav": "wav", "audio/wave": "wav", "audio/vnd.wave": "wav",
    "audio/x-pn-wav": "wav",
    "audio/aiff": "aiff", "audio/x-aiff": "aiff",
    "audio/webm": "weba",
    "audio/x-ms-wma": "wma",
    "audio/amr": "amr",
    "audio/x-matroska": "mka",
    "audio/3gpp": "3gp",
    "video/mp4": "mp4", "video/mpeg4": "mp4", "video/x-mp4": "mp4", "application/mp4": "mp4",
    "video/m4v": "m4v", "video/x-m4v": "m4v",
    "video/quicktime": "mov",
    "video/webm": "webm",
    "video/ogg": "ogv",
    "video/mpeg": "mpg", "video/x-mpeg": "mpg", "video/mpg": "mpg",
    "video/x-matroska": "mkv", "video/matroska": "mkv",
    "video/x-msvideo": "avi", "video/avi": "avi",
    "video/x-ms-wmv": "wmv", "video/wmv": "wmv", "audio/wma": "wma", "audio/x-wma": "wma",
    "video/x-ms-asf": "asf", "video/asf": "asf", "application/vnd.ms-asf": "asf",
    "video/x-ms-asf-plugin": "asf",
    "video/x-flv": "flv",
    "video/3gpp": "3gp",
    "video/mp2t": "ts",
    "application/x-bittorrent": "torrent",
    "application/zip": "zip", "application/x-zip": "zip", "application/x-zip-compressed": "zip",
    "application/vnd.rar": "rar", "application/x-rar-compressed": "rar", "application/x-rar": "rar",
    "application/x-7z-compressed": "7z", "application/gzip": "gz", "application/x-gzip": "gz",
    "application/x-tar": "tar",
    "application/pdf": "pdf", "application/x-pdf": "pdf",
    "application/epub+zip": "epub", "document/x-epub": "epub",
    "image/jpeg": "jpg", "image/jpg": "jpg", "image/png": "png", "image/webp": "webp", "image/gif": "gif",
  ]

  /// Media type of each extension (without its dot).
  private static let types: [String: String] = [
    "mp3": "audio/mpeg", "mpga": "audio/mpeg", "m4a": "audio/mp4", "m4b": "audio/mp4", "aac": "audio/aac",
    "ogg": "audio/ogg", "oga": "audio/ogg", "opus": "audio/opus", "flac": "audio/flac", "wav": "audio/wav",
    "wave": "audio/wav", "aiff": "audio/aiff", "aif": "audio/aiff", "weba": "audio/webm",
    "wma": "audio/x-ms-wma", "amr": "audio/amr", "mka": "audio/x-matroska",
    "mp4": "video/mp4", "m4v": "video/x-m4v", "mov": "video/quicktime", "qt": "video/quicktime",
    "webm": "video/webm", "ogv": "video/ogg", "ogm": "video/ogg", "mpg": "video/mpeg",
    "mpeg": "video/mpeg", "mkv": "video/x-matroska", "avi": "video/x-msvideo", "wmv": "video/x-ms-wmv",
    "asf": "video/x-ms-asf", "torrent": "application/x-bittorrent", "html": "text/html", "htm": "text/html",
    "flv": "video/x-flv", "3gp": "video/3gpp", "ts": "video/mp2t",
    "zip": "application/zip", "rar": "application/vnd.rar", "7z": "application/x-7z-compressed",
    "gz": "application/gzip", "tar": "application/x-tar",
    "pdf": "application/pdf", "epub": "application/epub+zip",
    "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "webp": "image/webp", "gif": "image/gif",
    "vtt": "text/vtt", "srt": "application/x-subrip", "txt": "text/plain", "json": "application/json",
    "opml": "text/x-opml",
  ]
}
