/// An option or a line of the configuration file that cannot be used: one line that says which and why.
package struct SettingsError: Error, Hashable, Sendable, CustomStringConvertible {
  package var description: String

  package init(_ description: String) { self.description = description }

  /// With where it stands: "FILE:LINE: …".
  func at(_ place: String) -> SettingsError { SettingsError("\(place): \(description)") }
}
