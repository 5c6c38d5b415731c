internal import Configuration
internal import Directory

/// Whether the offline directory can be read, where one is installed: searches go on without a damaged one.
enum DirectoryChecks {
  static func all(_ places: Places, _ settings: Settings) -> [Finding] {
    let directory = PodcastDirectory(place: DirectoryPlace(settings, places))
    guard directory.isInstalled else { return [] }
    do throws(DirectoryError) {
      return [.fine("the offline directory has \(DirectoryCommand.installed(try directory.facts()))")]
    } catch {
      return [.problem("the offline directory: \(error.message)", fix: "podcastfs directory fetch")]
    }
  }
}
