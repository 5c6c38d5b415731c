/// Measurements of one kind, in the text form that Prometheus and others read (OpenMetrics 1.0).
package struct MetricFamily: Hashable, Sendable {
  package enum Kind: String, Sendable { case gauge, counter, histogram, info }

  package struct Sample: Hashable, Sendable {
    /// Behind the family's name, "_bucket".
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
    let suffix = kind == .counter ? "_total" : kind == .info ? "_info" : ""
    add(value, labels, suffix)
  }

  package mutating func add(_ value: Int64, _ labels: KeyValuePairs<String, String> = [:]) {
    add(Double(value), labels)
  }

  /// Adds a distribution.
  /// - Parameter counts: of values up to each of `bounds`, and of all others.
  package mutating func add(
    counts: [Int], bounds: [Double], sum: Double, _ labels: KeyValuePairs<String, String>
  ) {
    var total = 0
    for (place, count) in counts.enumerated() {
      total += count
      let bound = place < bounds.count ? "\(bounds[place])" : "+Inf"
      samples.append(
        Sample(
          suffix: "_bucket", labels: Self.list(labels) + [Label(name: "le", value: bound)],
          value: Double(total)))
    }
    add(Double(total), labels, "_count")
    add(sum, labels, "_sum")
  }

  private mutating func add(_ value: Double, _ labels: KeyValuePairs<String, String>, _ suffix: String) {
    samples.append(Sample(suffix: suffix, labels: Self.list(labels), value: value))
  }

  private static func list(_ labels: KeyValuePairs<String, String>) -> [Label] {
    labels.map { Label(name: $0.key, value: $0.value) }
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
