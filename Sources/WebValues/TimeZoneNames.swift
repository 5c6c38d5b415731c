/// Offsets of the zones that feeds name: those of RFC 822 §5, and others that stand for one offset as good
/// as everywhere.
enum TimeZoneNames {
  /// Seconds east of Greenwich for a lower-case name; nil for one that is not known.
  static func offset(_ name: [UInt8]) -> Int? { offsets[String(decoding: name, as: UTF8.self)] }

  private static let offsets: [String: Int] = [
    "z": 0, "ut": 0, "utc": 0, "gmt": 0, "wet": 0,
    "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7, "ast": -4,
    "adt": -3, "akst": -9, "akdt": -8, "hst": -10, "et": -5, "ct": -6, "mt": -7, "pt": -8, "brt": -3,
    "art": -3, "bst": 1, "west": 1, "cet": 1, "met": 1, "cest": 2, "mest": 2, "eet": 2, "eest": 3, "sast": 2,
    "msk": 3, "pkt": 5, "hkt": 8, "sgt": 8, "awst": 8, "jst": 9, "kst": 9, "aest": 10, "aedt": 11, "nzst": 12,
    "nzdt": 13,
  ].mapValues { $0 * 3600 }.merging(["nst": -12_600, "ndt": -9000, "acst": 34_200, "acdt": 37_800]) { $1 }
}
