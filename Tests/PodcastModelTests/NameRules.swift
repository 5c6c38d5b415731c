import PodcastModel

/// The rules that every name in the tree obeys, written down anew rather than taken from the code under test.
enum NameRules {
  /// What is wrong with a name (without extension); empty where it is valid.
  static func violations(_ name: String) -> [String] {
    var found: [String] = []
    if name.isEmpty { found.append("empty") }
    if name.utf8.count > 200 { found.append("\(name.utf8.count) bytes") }
    if name.unicodeScalars.count > 120 { found.append("\(name.unicodeScalars.count) characters") }
    if Array(name.unicodeScalars) != Array(name.inNormalizationFormC.unicodeScalars) {
      found.append("not NFC")
    }
    for scalar in name.unicodeScalars {
      if #"/\:*?"<>|"#.unicodeScalars.contains(scalar) { found.append("holds \(scalar)") }
      switch scalar.value {
      case 0...0x1F, 0x7F...0x9F: found.append("control \(scalar.value)")
      case 0x61C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: found.append("bidi \(scalar.value)")
      // Joiners have rules of their own (`NameJoinerTests`).
      case 0xAD, 0x200B, 0x2060...0x2064, 0xFEFF, 0x180E: found.append("zero-width \(scalar.value)")
      case 0x2028, 0x2029: found.append("line break \(scalar.value)")
      default: break
      }
    }
    if let first = name.unicodeScalars.first, ".- ".unicodeScalars.contains(first) {
      found.append("starts with \(first)")
    }
    if let last = name.unicodeScalars.last, ". ".unicodeScalars.contains(last) {
      found.append("ends with \(last)")
    }
    if name.contains("  ") { found.append("two blanks") }
    let device = (name.split(separator: ".").first ?? "").uppercased()
    if ["CON", "PRN", "AUX", "NUL", "COM1", "COM9", "LPT1", "COM¹", "CONIN$"].contains(device) {
      found.append("device")
    }
    return found
  }
}
