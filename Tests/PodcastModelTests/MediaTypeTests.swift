import PodcastModel
import Testing

@Suite struct MediaTypeTests {
  @Test(arguments: [
    ("audio/mpeg", "https://h/a", ".mp3"), ("Audio/MPEG; charset=utf-8", "https://h/a.ogg", ".mp3"),
    (" audio/x-m4a ", "https://h/a", ".m4a"), ("video/mp4", "https://h/a.mp3", ".mp4"),
    ("application/octet-stream", "https://h/a.OPUS?x=.mp3", ".opus"),
    ("audio/*", "https://h/a.flac", ".flac"),
    (nil, "https://h/a/b.m4a#t", ".m4a"), ("", "https://h/a.desktop", ".mp3"),
    ("application/x-desktop", "https://h/a.desktop", ".mp3"),
    ("application/x-msdownload", "https://h/a.exe", ".mp3"),
    (nil, "https://host.mp4", ".mp3"), (nil, "https://host.com/x.mp4/play", ".mp3"), (nil, "", ".mp3"),
    ("text/html", "https://h/a.json", ".html"), ("text/html", "https://h/a.mp3", ".mp3"),
    ("application/x-bittorrent", "https://h/a.mp3", ".torrent"), (nil, "https://h/a.torrent?x", ".torrent"),
    (nil, "https://h/a.htm", ".html"), ("video/x-ms-asf", "https://h/a", ".asf"),
    (nil, "https://h/a.ASF", ".asf"),
    ("video/x-ms-wmv", "https://h/a", ".wmv"), ("application/octet-stream", "https://h/a.wmv", ".wmv"),
    ("image/png", "https://h/a", ".png"), ("image/jpeg", "https://h/a.mp3", ".mp3"),
    ("audio/mpeg", "https://h/a.m4a", ".mp3"),
    ("application/pdf", "https://h/a", ".pdf"),
    ("application/zip", "https://h/a.zip", ".zip"), ("application/octet-stream", "https://h/a.zip", ".zip"),
    (nil, "https://h/a.rar", ".rar"), ("audio/mpeg", "https://h/a.zip", ".mp3"),
    (nil, "https://h/a.json", ".mp3"),
    (nil, "https://h/a.srt", ".mp3"), ("application/x-zip-compressed", "https://h/a.mp3", ".zip"),
    ("audio/ogg; codecs=vorbis", "https://h/a", ".ogg"), (nil, "https://h/a.vtt", ".mp3"),
    ("x", "https://h/A.OGA", ".ogg"),
  ])
  func `The extension comes from the type, then from the address, else it is mp3`(
    type: String?, url: WebAddress, expected: String
  ) {
    #expect(MediaType.fileExtension(type: type, url: url) == expected)
  }

  @Test func `Every extension that is given has a media type`() {
    for type in [
      "audio/mpeg", "audio/mp4", "audio/aac", "video/quicktime", "application/epub+zip", "video/webm",
    ] {
      let name = "x" + MediaType.fileExtension(type: type, url: "")
      #expect(MediaType.type(forFileName: name) == type)
    }
    #expect(MediaType.type(forFileName: "2024 - v1.0") == nil)
    #expect(MediaType.type(forFileName: "x.chapters.json") == "application/json")
  }

  @Test(arguments: [
    ("audio/anything", "https://h/a", true), ("application/octet-stream", "https://h/a.mp3", true),
    (nil, "https://h/a.mp3?x", true), (nil, "https://h/a", false),
    ("application/pdf", "https://h/a.mp3", false),
    ("image/png", "https://h/a.png", false), ("application/ogg", "https://h/a", true),
    ("mp3", "https://h/a.mp3", true), ("image/jpeg", "https://h/a.mp3", true),
  ])
  func `Audio and video are told from other enclosures`(type: String?, url: WebAddress, expected: Bool) {
    #expect(MediaType.isAudioOrVideo(type: type, url: url) == expected)
  }

  @Test func `Sidecars get extensions of their own kind only`() {
    #expect(MediaType.transcriptExtension(type: "text/vtt", url: "https://h/t") == ".vtt")
    #expect(MediaType.transcriptExtension(type: "application/x-subrip", url: "https://h/t") == ".srt")
    #expect(MediaType.transcriptExtension(type: nil, url: "https://h/t.srt") == ".srt")
    #expect(MediaType.transcriptExtension(type: "text/plain", url: "https://h/t.vtt?x=1") == ".vtt")
    #expect(MediaType.transcriptExtension(type: "text/html; charset=utf-8", url: "https://h/t") == ".html")
    #expect(MediaType.transcriptExtension(type: "application/json", url: "https://h/t.html") == ".json")
    #expect(MediaType.transcriptExtension(type: "text/plain", url: "https://h/t.json") == ".txt")
    #expect(MediaType.transcriptExtension(type: nil, url: "https://h/t.json") == ".json")
    #expect(MediaType.transcriptExtension(type: "application/pdf", url: "https://h/t.pdf") == nil)
    #expect(MediaType.imageExtension(type: nil, url: "https://h/a.PNG?x") == ".png")
    #expect(MediaType.imageExtension(type: "audio/mpeg", url: "https://h/a.jpeg") == ".jpg")
    #expect(MediaType.imageExtension(type: nil, url: "https://h/a.exe") == ".jpg")
  }
}
