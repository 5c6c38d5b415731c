extension SyncSettings {
  /// The text of a configuration file with these credentials in its section of the server to synchronize with. All else
  /// that is in the file stays, other keys of the section too where it is of the same server.
  package func written(into text: String) -> String {
    // The lines before the first section, then each section with its head.
    var sections: [[Substring]] = [[]]
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if Self.words(line).hasPrefix("[") { sections.append([]) }
      sections[sections.count - 1].append(line)
    }
    let place = sections.firstIndex { Self.words($0.first ?? "").dropFirst().hasPrefix("sync") }
    let old = place.map { sections[$0] } ?? []
    let isSame = [url, url + "/"].contains { old.first?.contains("\"\($0)\"") == true }
    let kept = isSame ? old.dropFirst().filter { !Self.isOfCredentials($0) } : []
    var section = ["[sync \"\(url)\"]"]
    for (key, value) in [("kind", kind?.rawValue), ("user", user), ("password", password)] {
      if let value { section.append("\(key) = \"\(value)\"") }
    }
    let new = (section + kept.map(String.init)).map { Substring($0) }
    if let place {
      sections[place] = new + (place < sections.count - 1 && kept.last?.isEmpty != true ? [""] : [])
    } else {
      while sections[sections.count - 1].last?.isEmpty == true { sections[sections.count - 1].removeLast() }
      sections.append((sections == [[]] ? [] : [""]) + new)
    }
    let written = sections.joined().joined(separator: "\n")
    return written.hasSuffix("\n") ? written : written + "\n"
  }

  private static func words(_ line: Substring) -> Substring { line.drop { $0 == " " || $0 == "\t" } }

  private static func isOfCredentials(_ line: Substring) -> Bool {
    let key = words(line).prefix { $0 != "=" && $0 != " " && $0 != "\t" }
    return ["kind", "user", "password", "password_command"].contains(key)
  }
}
