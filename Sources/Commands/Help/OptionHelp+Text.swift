internal import Configuration

extension OptionHelp {
  /// "country=CC", "allow_other".
  var form: String { value.map { "\(key)=\($0)" } ?? key }

  /// What stands behind the explanation: " (us)", " (-o only)".
  var remark: String {
    let where_: String? =
      switch place {
      case .anywhere: nil
      case .mountOnly: "-o only"
      case .fileOnly: "the file only"
      }
    let words = [usual, where_].compactMap { $0 }
    return words.isEmpty ? "" : " (\(words.joined(separator: "; ")))"
  }
}
