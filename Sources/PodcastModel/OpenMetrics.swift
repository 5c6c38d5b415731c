/// Measurements of one kind, in the text form that Prometheus and others read (OpenMetrics 1.0).
package struct MetricFamily: Hashable, Sendable {
  package enum Kind: String, Sendable { case gauge, counter }

  package struct Sample: Hashable, Sendable {
    /// Behind the family's name, "_total".
    package var suffix: String
    package var labels: [Label]
    package var value: Double
  }
  package struct Label: Hashable, Sendable {
    package var name: String
    package var value: String
  }

  package let name: String
  package let kind: Kind
  /// The end of its name; nil for a mere number.
  package let unit: String?
  package let help: String
  package private(set) var samples: [Sample] = []

  package init(_ name: String, _ kind: Kind, unit: String? = nil, _ help: String) {
    (self.name, self.kind, self.unit, self.help) = (name, kind, unit, help)
  }

  /// Adds a value under its labels.
  package mutating func add(_ value: Double, _ labels: KeyValuePairs<String, String> = [:]) {
    let suffix = kind == .counter ? "_total" : ""
    let list = labels.map { Label(name: $0.key, value: $0.value) }
    samples.append(Sample(suffix: suffix, labels: list, value: value))
  }

  package mutating func add(_ value: Int64, _ labels: KeyValuePairs<String, String> = [:]) {
    add(Double(value), labels)
  }

  /// All families, as one document.
  package static func document(_ families: [MetricFamily]) -> String {
    families.map(\.text).joined() + "# EOF\n"
  }

  private var text: String {
    var lines = ["# TYPE \(name) \(kind.rawValue)"]
    if let unit { lines.append("# UNIT \(name) \(unit)") }
    lines.append("# HELP \(name) \(Self.escaped(help))")
    lines += samples.map { sample in
      let labels = sample.labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
      return "\(name)\(sample.suffix)\(labels.isEmpty ? "" : "{\(labels)}") \(Self.text(sample.value))"
    }
    return lines.map { $0 + "\n" }.joined()
  }

  private static func text(_ value: Double) -> String {
    if let whole = Int64(exactly: value) { return "\(whole)" }
    return "\(value)"
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }
}
