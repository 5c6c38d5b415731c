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
    let refused = ServerFeed(url: address("c"), isRefused: true)
    let news = SubscriptionNews(added: [address("b")], time: 5)
    let plan = SubscriptionPlan(
      local: [feed("a"), feed("c")], common: [other, refused], news: news, scope: .whole, uploadsAll: false)
    #expect(plan.follow.isEmpty && plan.add.isEmpty && plan.remove.isEmpty && plan.common.count == 2)
    let ended = SubscriptionPlan(
      local: [], common: [other, refused], news: SubscriptionNews(time: 5), scope: .changes, uploadsAll: false
    )
    #expect(ended.remove == [other] && ended.common.isEmpty)
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
