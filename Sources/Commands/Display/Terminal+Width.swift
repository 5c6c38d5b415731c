internal import PosixKit

extension Terminal {
  /// The columns that text may take: one less than there are, because a full line makes some terminals scroll.
  var width: Int { max(size.columns - 1, 20) }
}
