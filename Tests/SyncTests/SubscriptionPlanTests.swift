import Catalog
import PodcastModel
import Sync
import Testing

/// What is done about subscriptions.
@Suite struct SubscriptionPlanTests {
  private func feed(_ name: String, _ former: String..., isPublic: Bool = true) -> FollowedFeed {
    let url = address(name)
    return FollowedFeed(
      podcast: Int64(name.utf8.first ?? 0), subscription: 1, url: url,
      keys: [FeedKey.text(url)] + former.map { FeedKey.text(address($0)) }, isPublic: isPublic)
  }

  private func address(_ name: String) -> WebAddress { WebAddress("https://\(name).example/feed") }

  private func plan(
    _ local: [FollowedFeed], _ common: [String], add: [String] = [], remove: [String] = [],
    _ scope: SubscriptionPlan.Scope = .changes, all: Bool = false
  ) -> SubscriptionPlan {
    SubscriptionPlan(
      local: local, common: common.map { ServerFeed(url: address($0)) },
      news: SubscriptionNews(added: add.map(address), removed: remove.map(address), time: 5), scope: scope,
      uploadsAll: all)
  }

  @Test func theFirstSynchronizationMergesAndRemovesNothing() {
    let plan = plan([feed("a"), feed("b")], [], add: ["b", "c"], remove: ["a"], .first)
    #expect(plan.follow == [address("c")] && plan.unfollow.isEmpty)
    #expect(plan.add.map(\.url) == [address("a")] && plan.remove.isEmpty)
    #expect(plan.common.map(\.url) == [address("b"), address("c")])
  }

  @Test func whatEitherSideAddsOrRemovesLaterIsDoneOnTheOther() {
    let plan = plan([feed("a"), feed("n")], ["a", "gone"], add: ["c"], remove: [])
    #expect(plan.follow == [address("c")] && plan.add.map(\.url) == [address("n")])
    #expect(plan.remove.map(\.url) == [address("gone")] && plan.unfollow.isEmpty)
    let other = self.plan([feed("a"), feed("b")], ["a", "b"], remove: ["a"])
    #expect(other.unfollow == [feed("a")] && other.add.isEmpty && other.remove.isEmpty)
  }

  @Test func theRemovalOfWhatWasJustAddedHereLoses() {
    let plan = plan([feed("a")], [], remove: ["a"])
    #expect(plan.unfollow.isEmpty && plan.add.map(\.url) == [address("a")])
  }

  @Test func whatWasUnfollowedHereDoesNotComeBackWithAnOldAddition() {
    let plan = plan([], ["a"], add: ["a"])
    #expect(plan.follow.isEmpty && plan.remove.map(\.url) == [address("a")])
  }

  @Test func aServerThatHasLostItsFeedsIsToldOfThemAgain() {
    let plan = plan([feed("a"), feed("b")], ["a", "b"], add: ["b"], .whole)
    #expect(plan.unfollow.isEmpty && plan.add.map(\.url) == [address("a")])
  }

  @Test func addressesWithSecretsAreUploadedOnlyWhereTheUserSaysSo() {
    #expect(plan([feed("a", isPublic: false)], []).add.isEmpty)
    #expect(plan([feed("a", isPublic: false)], [], all: true).add.count == 1)
    // The server has it from another device.
    #expect(plan([feed("a", isPublic: false)], ["a"]).remove.isEmpty)
  }

  @Test func aFeedThatHasMovedHereIsTheSameOnTheServer() {
    let first = plan([feed("new", "old")], ["old"])
    #expect(first.add.isEmpty && first.remove.isEmpty)
    let second = plan([feed("new", "old")], [], add: ["old"])
    #expect(second.follow.isEmpty && second.add.isEmpty && second.common.map(\.url) == [address("old")])
    #expect(plan([feed("new", "old")], ["old"], remove: ["old"]).unfollow.count == 1)
  }

  @Test func whatTheServerWritesOtherwiseOrRefusesIsNotUploadedAgain() {
    let other = ServerFeed(url: address("b"), key: FeedKey.text(address("a")))
    let refused = ServerFeed(url: address("c"), state: .refused)
    let news = SubscriptionNews(added: [address("b")], time: 5)
    let plan = SubscriptionPlan(
      local: [feed("a"), feed("c")], common: [other, refused], news: news, scope: .whole, uploadsAll: false)
    #expect(plan.follow.isEmpty && plan.add.isEmpty && plan.remove.isEmpty && plan.common.count == 2)
    let ended = SubscriptionPlan(
      local: [], common: [other, refused], news: SubscriptionNews(time: 5), scope: .changes, uploadsAll: false
    )
    #expect(ended.remove == [other] && ended.common.isEmpty)
  }

  private static let spellings: [WebAddress] = [
    "https://a.example/feed", "http://a.example/feed/", "https://A.example/feed/",
  ]

  /// Two phones may write one feed in two ways.
  @Test func whatIsUnfollowedHereEndsInAllSpellingsThatTheServerHas() {
    let first = SubscriptionPlan(
      local: [], common: [], news: SubscriptionNews(added: Self.spellings, time: 5), scope: .first,
      uploadsAll: false)
    #expect(first.follow == [Self.spellings[0]] && Set(first.common.map(\.url)) == Set(Self.spellings))
    // One of them comes with the same synchronization.
    let ended = SubscriptionPlan(
      local: [feed("z")], common: Array(first.common.dropLast()) + [ServerFeed(url: address("z"))],
      news: SubscriptionNews(added: [first.common[2].url], time: 5), scope: .changes, uploadsAll: false)
    #expect(ended.follow.isEmpty && Set(ended.remove.map(\.url)) == Set(Self.spellings))
    #expect(ended.common.map(\.url) == [address("z")])
  }

  @Test func aFeedGoesWithTheLastSpellingThatTheServerHas() {
    func plan(_ common: [ServerFeed], add: [WebAddress] = [], remove: [WebAddress]) -> SubscriptionPlan {
      SubscriptionPlan(
        local: [feed("a")], common: common, news: SubscriptionNews(added: add, removed: remove, time: 5),
        scope: .changes, uploadsAll: false)
    }
    let listed = Self.spellings.map { ServerFeed(url: $0, state: .listed) }
    let one = plan(listed, remove: [Self.spellings[0]])
    #expect(one.unfollow.isEmpty && one.add.isEmpty && one.remove.isEmpty && one.common.count == 2)
    let all = plan(listed, remove: Self.spellings)
    #expect(all.unfollow == [feed("a")] && all.remove.isEmpty && all.common.isEmpty)
    // A phone moves from http to https.
    let moved = plan([listed[1]], add: [Self.spellings[0]], remove: [Self.spellings[1]])
    #expect(moved.unfollow.isEmpty && moved.common.map(\.url) == [Self.spellings[0]])
    // A server has not said that it writes otherwise what it was sent.
    let other = plan([ServerFeed(url: Self.spellings[0])], add: [Self.spellings[2]], remove: [])
    #expect(other.common.count == 2)
    #expect(plan(other.common, remove: [Self.spellings[2]]).unfollow == [feed("a")])
  }

  @Test func anAddressThatIsNoneOfTheWebIsLeftOut() {
    let news = SubscriptionNews(added: ["file:///etc/passwd", "gpodder"], time: 5)
    let plan = SubscriptionPlan(local: [], common: [], news: news, scope: .first, uploadsAll: false)
    #expect(
      plan
        == SubscriptionPlan(
          local: [], common: [], news: SubscriptionNews(time: 0), scope: .changes, uploadsAll: false))
  }
}
