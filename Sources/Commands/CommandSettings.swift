internal import Configuration

/// The user's settings, for commands that take no options of a mount.
enum CommandSettings {
  static func load() throws -> (places: Places, settings: Settings) {
    let places = try Places()
    let loaded = try Settings.load(
      file: places.configurationFile, environment: Places.processEnvironment)
    return (places, loaded.settings)
  }
}
