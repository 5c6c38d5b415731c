/// Measurements of one kind, in the text form that Prometheus and others read (OpenMetrics 1.0).
package struct MetricFamily: Hashable, Sendable {
  package enum Kind: String, Sendable { case gauge, counter }
  private let name: String
  private let kind: Kind
  private var text: String

  /// - Parameter unit: the end of its name; nil for a mere number.
  package init(_ name: String, _ kind: Kind, unit: String? = nil, _ help: String) {
    (self.name, self.kind) = (name, kind)
    text = "# TYPE \(name) \(kind.rawValue)\n"
    if let unit { text += "# UNIT \(name) \(unit)\n" }
    text += "# HELP \(name) \(Self.escaped(help))\n"
  }

  package mutating func add(_ value: Double, _ labels: KeyValuePairs<String, String> = [:]) {
    let list = labels.map { "\($0.key)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
    let number = Int64(exactly: value).map { "\($0)" } ?? "\(value)"
    text += name + (kind == .counter ? "_total" : "") + (list.isEmpty ? "" : "{\(list)}") + " \(number)\n"
  }

  package mutating func add(_ value: Int64, _ labels: KeyValuePairs<String, String> = [:]) {
    add(Double(value), labels)
  }

  package static func document(_ families: [MetricFamily]) -> String {
    families.map(\.text).joined() + "# EOF\n"
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }
}
