/// Where the channel's values come from so far: of several elements that say the same, the best one holds,
/// whatever their order.
struct FeedRanks {
  var title = 0
  var author = 0
  var image = 0
  var description = 0
  var link = 0
}
