internal import FeedKit
internal import HTTPKit
internal import PodcastModel
internal import PosixKit

/// Looks at an address that a user gave, then subscribes to the feed that is there.
struct SubscriptionTrial: Sendable {
  let feeds: FeedRefresher
  /// What the user gave.
  let address: String
  let name: String?
  let task: CatalogWork<ListedPodcast>

  func begin() {
    do throws(CatalogError) {
      guard let url = SubscriptionAddress.normalized(address), let host = url.host else {
        throw CatalogError(.EINVAL, "no address of a feed")
      }
      let known = try feeds.store.read { try SubscriptionRows.subscription(feedURL: url.forRequest, in: $0) }
      if let known { throw SubscriptionRows.already(known.name) }
      look(at: url, isNamed: true, PrivateHostName.isPrivate(host) ? .allowed : .refused)
    } catch {
      fail(error)
    }
  }

  /// Called off, or followed already, it is no failure for the log.
  private func fail(_ error: CatalogError) {
    if ![.ECANCELED, .EINTR, .EEXIST].contains(error.errno) {
      let why = error.message(adviceFor: .subscription)
      feeds.log.write("cannot subscribe to \(WebAddress(address).shown): \(why)")
    }
    task.finish(.failure(error))
  }

  /// - Parameters:
  ///   - isNamed: by the user himself, not by a page.
  ///   - refusal: why a private host was refused that may be meant all the same, if it leads nowhere else.
  private func look(
    at url: WebAddress, isNamed: Bool, _ privateHosts: FeedRefresher.PrivateHosts,
    after refusal: CatalogError? = nil
  ) {
    let request = feeds.feedRequest(url, privateHosts: privateHosts)
    let receiver = FeedReceiver { result in
      feeds.threads.run {
        do throws(CatalogError) {
          switch result {
          case .failure(let failure) where failure.isRefusedAddress && isNamed && privateHosts == .refused:
            look(at: url, isNamed: true, .allowedWithoutRedirects, after: failure.error)
          case .failure(let failure): throw failure.leadsElsewhere ? refusal ?? failure.error : failure.error
          case .success(let answer): try received(answer, from: url, isNamed: isNamed)
          }
        } catch {
          fail(error)
        }
      }
    }
    let httpTask = feeds.http.start(request, receiver: receiver)
    task.onCancel { httpTask.cancel() }
  }

  private func received(
    _ unread: UnreadAnswer, from url: WebAddress, isNamed: Bool
  ) throws(CatalogError) {
    let head = unread.head
    guard unread.body != nil else {
      throw CatalogError(status: head.status, host: WebAddress(head.effectiveURL).host ?? "the server")
    }
    let answer: FeedAnswer
    let feed: FetchedFeed
    switch unread.read(
      known: nil, isFirst: true, now: wallClockSeconds(), by: feeds.reader, isBehind: false)
    {
    case .success(let read):
      guard case .feed(let parsed) = read.content else { throw CatalogError(.EPROTO, "no feed") }
      (answer, feed) = (read, parsed)
    case .failure(let failure):
      guard let link = isNamed ? failure.links.first : nil else { throw failure.error }
      let address = FeedCredentials.lent(by: url, to: link)
      return look(at: address, isNamed: false, head.isFromPrivateHost ? .allowed : .refused)
    }
    guard task.beginCommit() else { return }
    task.finish(
      Result { () throws(CatalogError) in
        try subscribe(to: feed, at: url, answer, mayBePrivate: isNamed)
      })
  }

  private func subscribe(
    to feed: FetchedFeed, at url: WebAddress, _ answer: FeedAnswer, mayBePrivate: Bool
  ) throws(CatalogError) -> ListedPodcast {
    let (listed, state) = try feeds.store.change { database, changes in
      let podcast = try PodcastRow.recordNamed(
        url, title: feed.title, mayBePrivate: mayBePrivate, in: database)
      let listed = try SubscriptionRows.subscribe(podcast, as: name, or: nil, in: database)
      changes.append(.subscription(listed.id, podcast: podcast))
      return (listed, try FeedState(podcast: podcast, in: database))
    }
    guard let state else { return listed }
    let run = RefreshRun(feeds: feeds, state: state, now: wallClockSeconds(), isForced: true)
    if case .failure(let error) = run.store(feed, answer) {
      throw CatalogError(
        error.errno,
        "subscribed to \(listed.name), but not all of its episodes could be kept: \(error.message)")
    }
    var known = listed
    known.podcast = try feeds.store.read { try PodcastRow.podcast(state.id, in: $0) } ?? listed.podcast
    return known
  }
}
