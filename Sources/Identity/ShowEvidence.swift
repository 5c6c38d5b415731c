/// Whether two podcasts are one, where the first says that it is now at the other's address.
package struct ShowEvidence: Sendable {
  /// Episodes that both have, and how many the one has that has fewer.
  package var common: Int
  package var fewer: Int
  /// Both say the same `podcast:guid`, and no other podcast does: some hosts give a template's to all of theirs.
  package var hasSameGuid: Bool
  package var hasSameTitle: Bool

  package init(common: Int, of fewer: Int, hasSameGuid: Bool, hasSameTitle: Bool) {
    self.common = common
    self.fewer = fewer
    self.hasSameGuid = hasSameGuid
    self.hasSameTitle = hasSameTitle
  }

  /// Half of the episodes are enough; a guid needs one of them, or the title, besides: anybody can copy it.
  package var score: Int {
    (common * 2 >= fewer ? 50 : common > 0 ? 15 : 0) + (hasSameGuid ? 35 : 0) + (hasSameTitle ? 15 : 0)
  }

  package var isEnough: Bool { score >= Evidence.enough }
}
