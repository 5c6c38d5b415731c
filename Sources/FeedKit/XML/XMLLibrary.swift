internal import CLibXML2

/// The library that feeds are parsed with.
package enum XMLLibrary {
  /// "2.9.14".
  package static var version: String {
    let text = String(cString: podcastfs_xml_version())
    guard let number = Int(text.prefix { $0.isNumber }) else { return text }
    return "\(number / 10_000).\(number / 100 % 100).\(number % 100)"
  }
}
