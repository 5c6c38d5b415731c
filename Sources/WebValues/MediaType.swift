/// Which extension an enclosure's file gets, and which media type a file name stands for: one fixed table,
/// so that nothing a host sends makes a program out of an episode.
package enum MediaType {
  /// The extension with its dot for a file of this media type and address: by the type, where it is one of the table;
  /// else by the ending of the address's path, where that is one of the table; else ".mp3", but for web pages.
  package static func fileExtension(type: String?, url: WebAddress) -> String {
    let essence = type.map(essence) ?? ""
    if let kind = byType[essence], kind.isEnclosure, kind.ending != "html",
      !(yieldsToEnding(essence) && hasPlayableEnding(url))
    {
      return "." + kind.ending
    }
    if let kind = kind(of: url), kind.isEnclosure { return "." + kind.ending }
    return essence == "text/html" ? ".html" : ".mp3"
  }

  /// The extension with its dot for a transcript: ".vtt" or ".srt", which players show as subtitles, also where the address
  /// alone says so; ".json", ".html" or ".txt"; nil for other kinds.
  package static func transcriptExtension(type: String?, url: WebAddress) -> String? {
    let endings = kinds(type, url).map(\.ending)
    let found =
      endings.first { $0 == "vtt" || $0 == "srt" } ?? endings.first { ["json", "html", "txt"].contains($0) }
    return found.map { "." + $0 }
  }

  /// The extension with its dot for an image: by its type, else by its address, else ".jpg".
  package static func imageExtension(type: String?, url: WebAddress) -> String {
    "." + (kinds(type, url).first { $0.type.hasPrefix("image/") }?.ending ?? "jpg")
  }

  /// The media type for a file name or an extension with its dot: "audio/mpeg"; nil where the table does not have it.
  package static func type(forFileName name: String) -> String? {
    guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return nil }
    return byEnding[name[name.utf8.index(after: dot)...].lowercased()]?.type
  }

  /// A media type lower-case and without its parameters: "audio/mpeg" for "Audio/MPEG; charset=UTF-8".
  package static func essence(_ type: String) -> String {
    if byType[type] != nil { return type }
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
      if isPlayable(essence) { return true }
      if !yieldsToEnding(essence), essence.contains("/") {
        return byType[essence].map { isPlayable($0.type) } ?? false
      }
    }
    return hasPlayableEnding(url)
  }

  /// Whether an enclosure is a list of addresses of streams (HLS, RFC 8216; DASH; M3U; PLS; XSPF), which is no file to download.
  package static func isPlaylist(type: String?, url: WebAddress) -> Bool {
    let isPlaylist = { (kind: Kind?) in kind?.ending == "m3u8" }
    return isPlaylist(type.flatMap { byType[essence($0)] }) || isPlaylist(kind(of: url))
  }

  private struct Kind {
    /// Of its files.
    var ending: String
    var type: String

    /// Not what sidecars are: they share the stem of their episode.
    var isEnclosure: Bool {
      isPlayable(type) || type.hasPrefix("image/") || type == "text/html"
        || type.hasPrefix("application/") && !["json", "srt", "m3u8"].contains(ending)
    }
  }

  private static func kinds(_ type: String?, _ url: WebAddress) -> [Kind] {
    [type.flatMap { byType[essence($0)] }, kind(of: url)].compactMap(\.self)
  }

  /// Whether a type says less of an enclosure than an ending of audio or video: it says nothing, or it is that of the
  /// episode's picture or page.
  private static func yieldsToEnding(_ essence: String) -> Bool {
    unspecific.contains(essence) || essence.hasPrefix("image/")
  }

  private static func hasPlayableEnding(_ url: WebAddress) -> Bool {
    kind(of: url).map { isPlayable($0.type) } ?? false
  }

  private static func isPlayable(_ type: String) -> Bool {
    type.hasPrefix("audio/") || type.hasPrefix("video/")
  }

  /// The kind by the file's ending: what stands behind the last dot of the path's last component. Bytes are compared: a feed
  /// has thousands of addresses.
  private static func kind(of address: WebAddress) -> Kind? {
    guard let path = address.parts?.path.utf8, let dot = path.lastIndex(of: UInt8(ascii: ".")) else {
      return nil
    }
    let ending = path[path.index(after: dot)...]
    return ending.contains(UInt8(ascii: "/")) ? nil : byEnding[Substring(ending).lowercased()]
  }

  /// Types that say nothing about the content.
  private static let unspecific: Set<String> = [
    "application/octet-stream", "binary/octet-stream", "application/binary", "application/x-download",
    "application/force-download", "application/unknown", "unknown/unknown", "text/plain", "text/html",
  ]

  /// A kind of file a line: its endings, the one that files get first; then its media types, the one of such files first. A
  /// type counts for the first kind that has it.
  private static let table = """
    mp3 mpga: audio/mpeg audio/mp3 audio/x-mp3 audio/x-mpeg audio/mpeg3 audio/x-mpeg-3 audio/mpg audio/x-mpg
    m4a: audio/mp4 audio/m4a audio/x-m4a audio/mp4a-latm audio/x-mp4 audio/alac
    m4b: audio/mp4 audio/m4b audio/x-m4b
    aac: audio/aac audio/x-aac audio/aacp audio/x-hx-aac-adts
    ogg oga: audio/ogg audio/vorbis audio/x-ogg audio/x-vorbis audio/x-vorbis+ogg application/ogg
    opus: audio/opus audio/x-opus+ogg
    flac: audio/flac audio/x-flac
    wav wave: audio/wav audio/x-wav audio/wave audio/vnd.wave audio/x-pn-wav
    aiff aif: audio/aiff audio/x-aiff
    weba: audio/webm
    wma: audio/x-ms-wma audio/wma audio/x-wma
    amr: audio/amr
    mka: audio/x-matroska
    mp4: video/mp4 video/mpeg4 video/x-mp4 application/mp4
    m4v: video/x-m4v video/m4v
    mov qt: video/quicktime
    webm: video/webm
    ogv ogm: video/ogg
    mpg mpeg: video/mpeg video/x-mpeg video/mpg
    mkv: video/x-matroska video/matroska
    avi: video/x-msvideo video/avi
    wmv: video/x-ms-wmv video/wmv
    asf: video/x-ms-asf video/asf application/vnd.ms-asf video/x-ms-asf-plugin
    flv: video/x-flv
    3gp: video/3gpp audio/3gpp
    ts: video/mp2t
    torrent: application/x-bittorrent
    zip: application/zip application/x-zip application/x-zip-compressed
    rar: application/vnd.rar application/x-rar-compressed application/x-rar
    7z: application/x-7z-compressed
    gz: application/gzip application/x-gzip
    tar: application/x-tar
    pdf: application/pdf application/x-pdf
    epub: application/epub+zip document/x-epub
    jpg jpeg: image/jpeg image/jpg
    png: image/png
    webp: image/webp
    gif: image/gif
    html htm: text/html
    vtt: text/vtt
    srt: application/x-subrip application/srt text/srt application/x-srt
    txt: text/plain
    json: application/json
    opml: text/x-opml
    m3u8 m3u mpd pls xspf: application/vnd.apple.mpegurl application/x-mpegurl application/mpegurl
    m3u8: application/dash+xml audio/mpegurl audio/x-mpegurl audio/x-scpls audio/scpls application/xspf+xml
    """.split(separator: "\n").map { line in
      let parts = line.split(separator: ":", maxSplits: 1).map { $0.split(separator: " ").map(String.init) }
      return (endings: parts[0], types: parts[1])
    }

  private static let byType = kinds { $0.types }
  private static let byEnding = kinds { $0.endings }

  private static func kinds(by keys: ((endings: [String], types: [String])) -> [String]) -> [String: Kind] {
    table.reduce(into: [:]) { kinds, row in
      for key in keys(row) where kinds[key] == nil {
        kinds[key] = Kind(ending: row.endings[0], type: row.types[0])
      }
    }
  }
}
