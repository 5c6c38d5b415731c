/// Reads ages as people write them in queries and rules.
package enum AgeText {
  /// - Returns: seconds for a number and a unit: `12h`, `7d`, `3w`, `2m` (of 30 days), `1y` (of 365 days); nil for
  ///   anything else.
  package static func seconds(_ text: String) -> Int64? {
    guard let unit = text.last.flatMap({ units[$0] }), let number = text.dropLast().wholeNumber else {
      return nil
    }
    return number < 100_000 ? number * unit : nil
  }

  /// The same in days, or in hours where it is not a number of days.
  package static func text(_ seconds: Int64) -> String {
    seconds % 86_400 == 0 ? "\(seconds / 86_400)d" : "\(seconds / 3600)h"
  }

  private static let units: [Character: Int64] = [
    "h": 3600, "d": 86_400, "w": 604_800, "m": 2_592_000, "y": 31_536_000,
  ]
}
