/// An option: its key, placeholder, default, explanation, and how its value is read.
///
/// Settings, help, manual pages, completions and Documentation/Configuration.md are made from these.
package struct Option<Target>: Sendable {
  package let help: OptionHelp
  /// The value of the key alone; nil where it needs a value.
  private let implied: String?
  private let read: @Sendable (inout Target, _ key: String, _ value: String) throws -> Void

  init(
    _ key: String, _ placeholder: String?, _ usual: String?, _ text: String,
    _ place: OptionHelp.Place = .anywhere, implied: String? = nil,
    _ read: @escaping @Sendable (inout Target, _ key: String, _ value: String) throws -> Void
  ) {
    help = OptionHelp(key, placeholder, usual, text, place)
    self.implied = implied
    self.read = read
  }

  /// - Parameter value: nil where only the key was given.
  func set(_ value: String?, in target: inout Target) throws(SettingsError) {
    guard let value = value ?? implied else {
      throw SettingsError("\(help.key) needs a value: \(help.key)=…")
    }
    do { try read(&target, help.key, value) } catch {
      throw error as? SettingsError ?? SettingsError("\(help.key): \(error)")
    }
  }
}

package struct OptionHelp: Hashable, Sendable {
  package let key: String
  /// The placeholder of its value; nil for a flag.
  package let placeholder: String?
  package let usual: String?
  package let text: String
  package let place: Place

  package enum Place: Sendable {
    /// `-o` and the configuration file.
    case anywhere
    /// `-o` only.
    case mountOnly
    /// The file only: secrets, which a command line would show to all users of a machine.
    case fileOnly
    /// A section of the file only.
    case section
  }

  init(_ key: String, _ placeholder: String?, _ usual: String?, _ text: String, _ place: Place) {
    (self.key, self.placeholder, self.usual, self.text, self.place) = (key, placeholder, usual, text, place)
  }

  /// All but those of sections.
  package static var all: [OptionHelp] {
    Settings.options.map(\.help) + MountOptions.options.map(\.help) + MountOptions.flagHelp
  }

  /// "country=CC", "allow_other".
  package var form: String { placeholder.map { "\(key)=\($0)" } ?? key }

  /// The end of the explanation: " (us)", " (-o only)".
  package var remark: String {
    let note: String? =
      switch place {
      case .anywhere, .section: nil
      case .mountOnly: "-o only"
      case .fileOnly: "the file only"
      }
    let words = [usual, note].compactMap { $0 }
    return words.isEmpty ? "" : " (\(words.joined(separator: "; ")))"
  }

  /// A row of Documentation/Configuration.md.
  package var row: String {
    let taken = placeholder.map { "`=\($0.replacing("|", with: "\\|"))`" } ?? ""
    return "| `\(key)`\(taken.isEmpty ? "" : " ")\(taken) | \(usual ?? "none") | \(text) |"
  }
}
