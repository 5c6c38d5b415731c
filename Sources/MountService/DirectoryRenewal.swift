internal import BusKit
internal import Configuration
internal import Directory
internal import FeedKit
internal import PodcastModel
internal import PosixKit

/// Has the offline directory fetched again when it is old (`directory_every`), on networks that are not metered.
final class DirectoryRenewal: Sendable {
  private let settings: Settings
  private let directory: PodcastDirectory
  private let log: LogFile
  private let queue = WorkQueue(name: "directory", courtesy: 10)

  /// Seconds after the start, and between two looks.
  private static let beginning = 30.0
  private static let period = 3600.0
  /// Seconds to wait for NetworkManager's answer.
  private static let patience = 5.0

  init(settings: Settings, places: Places, log: LogFile) {
    self.settings = settings
    self.log = log
    directory = PodcastDirectory(place: DirectoryPlace(settings, places))
  }

  /// - Parameter beginning: seconds until the first look.
  func begin(after beginning: Double = DirectoryRenewal.beginning) {
    guard settings.directoryEvery != nil else { return }
    queue.async(after: beginning) { [self] in
      DirectoryImport.clean(directory.place)
      if isDue, !MeteredNetwork.ask(seconds: Self.patience) { fetch() }
      begin(after: Self.period)
    }
  }

  func stop() { queue.stop() }

  /// A directory that is shared by all users is its owner's matter.
  private var isDue: Bool {
    guard let days = settings.directoryEvery, settings.directoryFile == nil else { return false }
    guard let made = (try? directory.facts())?.made else { return true }
    let now = wallClockSeconds()
    return made > now || made <= now - Int64(days) * 86_400
  }

  /// In a process of its own, so that its memory is freed at the end.
  private func fetch() {
    // It may have a password, and every user can read a program's arguments.
    var environment = Places.processEnvironment
    environment[DumpQuestion.addressVariable] = settings.directoryURL
    do {
      let process = try ChildProcess.start(
        FeedReader.thisProgram, name: "podcastfs", ["directory", "fetch", "--quiet"],
        environment: environment)
      let status = try ChildProcess.wait(process)
      if status != 0 {
        log.write("the offline directory could not be fetched: podcastfs directory fetch says why")
      }
    } catch {
      log.write("the offline directory could not be fetched: \(error)")
    }
  }
}
