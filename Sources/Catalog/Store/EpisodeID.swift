/// How episodes are numbered: the podcast's number, then 20 bits for its episodes in the order in which they
/// were first seen. So a podcast's episodes lie side by side in the table, whenever each was added, and no
/// number is ever given twice.
package enum EpisodeID {
  static let bits: Int64 = 20
  /// The number of the last episode that a podcast can have.
  static let last: Int64 = 1 << bits - 1

  static func first(ofPodcast podcast: Int64) -> Int64 { podcast << bits }

  static func last(ofPodcast podcast: Int64) -> Int64 { podcast << bits | last }

  /// - Parameter number: 1 for the first; nil beyond the last there can be.
  static func make(podcast: Int64, number: Int64) -> Int64? {
    number <= last ? podcast << bits | number : nil
  }

  package static func podcast(of episode: Int64) -> Int64 { episode >> bits }
}
