/// JSON (RFC 8259) that podcastfs writes: a tree of values whose members keep the order they are given in.
package enum JSONValue: Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  /// Not a number and infinity are written as null.
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([(String, JSONValue)])

  package static func optional(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }

  /// A whole number, or null for nil.
  package static func optional(_ number: (some FixedWidthInteger & SignedInteger)?) -> JSONValue {
    number.map { .integer(Int64($0)) } ?? .null
  }

  package static func optional(_ flag: Bool?) -> JSONValue { flag.map(JSONValue.bool) ?? .null }

  package static func strings(_ texts: [String]) -> JSONValue { .array(texts.map(JSONValue.string)) }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByNilLiteral, ExpressibleByArrayLiteral
{
  package init(stringLiteral value: String) { self = .string(value) }
  package init(integerLiteral value: Int64) { self = .integer(value) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(nilLiteral: ()) { self = .null }
  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
}
