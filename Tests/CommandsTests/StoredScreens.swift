import Glibc
import PosixKit
import TestSupport
import Testing

/// The screens stored in `Screens/`: a file for each name, with a part for each width. PODCASTFS_SCREENS=write stores them
/// anew.
enum StoredScreens {
  static let widths = [60, 80, 120]

  private static let folder = #filePath.replacing("StoredScreens.swift", with: "Screens/")

  /// Compares what a terminal of each width shows with the stored screens.
  static func check(_ name: String, _ render: (_ columns: Int) throws -> String) throws {
    let parts = try widths.map { columns in
      let lines = try render(columns).split(separator: "\n", omittingEmptySubsequences: false)
      return "==== \(columns)\n" + lines.map { $0.trimmingBlanks + "\n" }.joined()
    }
    let file = folder + name + ".txt"
    if getenv("PODCASTFS_SCREENS") != nil { try Directories.replace(file, with: Array(parts.joined().utf8)) }
    let stored = (try? Directories.read(file)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    for part in parts { #expect(stored.contains(part), "\(name)\n\(part)") }
  }
}

extension Substring {
  fileprivate var trimmingBlanks: Substring {
    var text = self
    while text.last == " " { text.removeLast() }
    return text
  }
}
