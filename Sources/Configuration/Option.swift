/// An option: its key, placeholder, default, explanation, and how its value is read.
///
/// Settings, help, the manual page and Documentation/Configuration.md are made from these.
package struct Option<Target>: Sendable {
  package let help: OptionHelp
  /// The value of the key alone; nil where it needs a value.
  private let implied: String?
  private let isSecret: Bool
  /// Returns a correct form where the value has another one.
  private let read: @Sendable (inout Target, String) -> String?

  init(
    _ help: OptionHelp, implied: String? = nil, isSecret: Bool = false,
    read: @escaping @Sendable (inout Target, String) -> String?
  ) { (self.help, self.implied, self.isSecret, self.read) = (help, implied, isSecret, read) }

  init<Value>(
    _ key: String, _ placeholder: String, _ usual: String?, _ text: String,
    _ path: any WritableKeyPath<Target, Value> & Sendable, _ form: ValueForm<Value>,
    _ place: OptionHelp.Place = .anywhere, implied: String? = nil
  ) {
    let help = OptionHelp(key, placeholder, usual, text, place)
    self.init(help, implied: implied, isSecret: form.isSecret) { target, text in
      guard let value = form.read(text) else { return form.words }
      target[keyPath: path] = value
      return nil
    }
  }

  init<Value>(
    _ key: String, _ placeholder: String, _ usual: String?, _ text: String,
    _ path: any WritableKeyPath<Target, Value?> & Sendable, _ form: ValueForm<Value>,
    _ place: OptionHelp.Place = .anywhere
  ) {
    let optional = ValueForm<Value?>(form.words, isSecret: form.isSecret) { text in form.read(text).map { $0 }
    }
    self.init(key, placeholder, usual, text, path, optional, place)
  }

  func within<Outer>(_ path: any WritableKeyPath<Outer, Target> & Sendable) -> Option<Outer> {
    let read = read
    return Option<Outer>(help, implied: implied, isSecret: isSecret) { read(&$0[keyPath: path], $1) }
  }

  /// - Parameter value: nil where only the key was given.
  func set(_ value: String?, in target: inout Target) throws(SettingsError) {
    guard let value = value ?? implied else {
      throw SettingsError("\(help.key) needs a value: \(help.key)=…")
    }
    if let form = read(&target, value) {
      throw SettingsError("\(help.key)\(isSecret ? "" : "=\(value)") is not valid: it takes \(form)")
    }
  }
}

extension Array {
  /// Sets an option of this table.
  /// - Returns: false where the table has none of that name.
  func set<Target>(
    _ key: String, _ value: String?, in target: inout Target
  ) throws(SettingsError) -> Bool where Element == Option<Target> {
    guard let option = first(where: { $0.help.key == key }) else { return false }
    try option.set(value, in: &target)
    return true
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
    let words = [usual, place == .mountOnly ? "-o only" : nil].compactMap(\.self)
    return words.isEmpty ? "" : " (\(words.joined(separator: "; ")))"
  }
}
