/// Gets a feed's episodes one by one, while what comes behind them is still parsed.
package struct EpisodeReceiver {
  /// The next episode of the document.
  let take: (ParsedEpisode) -> Void
  /// Forget all that came: the document is read again from its start.
  let restart: () -> Void
}
