internal import Configuration
internal import Glibc
internal import MountService
internal import PodcastModel
internal import PosixKit

enum MetricsCommand: Command {
  static let usage = """
    podcastfs metrics [--json] [MOUNTPOINT]

    Prints what a mount counts, as OpenMetrics text: requests of the kernel and of the daemon, downloads, what is open.
    It prints the file .podcastfs/metrics of MOUNTPOINT, or of your mount.
    """

  static func run(_ arguments: inout ArgumentList) throws {
    let root = try arguments.operands().first ?? UserMount.root()
    let text: String
    do {
      text = String(decoding: try Directories.read("\(root)/.podcastfs/metrics"), as: UTF8.self)
    } catch {
      throw CommandFailure(
        "\(root): \(MountTable.isOurs(root) ? "\(error.errno)" : "not a podcastfs mount")")
    }
    StandardStreams.show(json(text)) { StandardStreams.write(text) }
  }

  private static func json(_ text: String) -> JSONValue {
    let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
    return .array(
      lines.compactMap { line in
        guard let blank = line.lastIndex(of: " "), let value = Double(line[line.index(after: blank)...])
        else {
          return nil
        }
        let name = line[..<blank].prefix { $0 != "{" }
        let labels = line[..<blank].dropFirst(name.count).dropFirst().dropLast().split(separator: ",")
        return .members([
          "name": String(name),
          "labels": JSONValue.object(
            labels.compactMap { label in
              let parts = label.split(separator: "=", maxSplits: 1)
              return parts.count == 2
                ? (String(parts[0]), .string(String(parts[1].dropFirst().dropLast()))) : nil
            }), "value": value,
        ])
      })
  }
}

/// A mount of the user: each shows the same.
enum UserMount {
  static func root() throws -> String {
    guard let root = MountServer.mountPoints(places: try Places()).first else {
      throw CommandFailure("nothing is mounted: first run podcastfs mount")
    }
    return root
  }
}
