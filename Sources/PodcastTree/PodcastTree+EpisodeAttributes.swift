internal import PodcastModel
internal import TransferProtocol

/// The attributes of an episode.
extension PodcastTree {
  func attributeList(of entry: EpisodeEntry) -> AttributeList {
    let status = transfers.status(of: entry.episode.mediaKey)
    var list = AttributeList()
    addTransfer(to: &list, entry.episode, status)
    addFacts(to: &list, entry)
    addFreedesktop(to: &list, entry)
    return list.bounded()
  }

  private func addTransfer(to list: inout AttributeList, _ episode: Episode, _ status: TransferStatus?) {
    let size = EpisodeSize(episode, status)
    let state = status?.state ?? .remote
    let received = status?.received ?? 0
    list.add("state", state.name)
    if size.source != .estimate {
      list.add(
        "progress", Progress.text(received: received, total: size.bytes, isComplete: state == .cached))
    }
    list.add("bytes_received", String(received))
    if size.source != .estimate { list.add("bytes_total", String(size.bytes)) }
    list.add("size_source", size.source.rawValue)
    if state == .downloading {
      list.add("rate", status?.rate.map { String($0) })
      list.add("eta", status?.eta.map { String($0) })
    }
    list.add("error", status?.error)
  }

  private func addFacts(to list: inout AttributeList, _ entry: EpisodeEntry) {
    let episode = entry.episode
    list.add("url", episode.enclosureURL.shown(isListed: entry.podcast.isListed))
    list.add("guid", episode.guid)
    list.add("title", TitleText.plain(episode.title))
    list.add("show", TitleText.plain(entry.podcast.title))
    list.add("published", episode.isDated ? CivilTime.iso8601(episode.published) : nil)
    list.add("duration", episode.duration.map { String($0) })
    list.add("season", episode.season.map { String($0) })
    list.add("episode", episode.episode.map { String($0) })
    list.add("explicit", episode.explicit.map { $0 ? "1" : "0" })
    list.add("played", episode.played ? "1" : "0")
    list.add("keep", transfers.status(of: episode.mediaKey)?.isKept ?? false ? "1" : "0")
  }

  /// Shared File Metadata of freedesktop.org, and Dublin Core as it names it.
  private func addFreedesktop(to list: inout AttributeList, _ entry: EpisodeEntry) {
    let (episode, podcast) = (entry.episode, entry.podcast)
    let creator = podcast.author ?? podcast.title
    let notes = episode.notes.map(PlainText.oneLine)
    list.add(plain: "user.mime_type", MediaType.type(forFileName: episode.fileName))
    list.add(plain: "user.xdg.origin.url", episode.enclosureURL.shown(isListed: podcast.isListed))
    list.add(
      plain: "user.xdg.referrer.url", (episode.link ?? podcast.link)?.shown(isListed: podcast.isListed))
    list.add(plain: "user.xdg.publisher", creator)
    list.add(plain: "user.xdg.language", podcast.language)
    list.add(plain: "user.dublincore.title", TitleText.plain(episode.title))
    list.add(plain: "user.dublincore.creator", creator)
    list.add(plain: "user.dublincore.date", episode.isDated ? CivilTime.iso8601(episode.published) : nil)
    list.add(plain: "user.dublincore.identifier", episode.guid)
    list.add(plain: "user.xdg.comment", notes?.cut(toBytes: 400))
    list.add(plain: "user.dublincore.description", notes?.cut(toBytes: 400))
  }
}
