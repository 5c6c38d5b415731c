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

/// What may be a member of an object: a text, number, truth value, list of these, or nil for null.
package protocol JSONRepresentable { var json: JSONValue { get } }

extension JSONValue: JSONRepresentable { package var json: JSONValue { self } }
extension String: JSONRepresentable { package var json: JSONValue { .string(self) } }
extension Bool: JSONRepresentable { package var json: JSONValue { .bool(self) } }
extension Int: JSONRepresentable { package var json: JSONValue { .integer(Int64(self)) } }
extension Int64: JSONRepresentable { package var json: JSONValue { .integer(self) } }
extension Double: JSONRepresentable { package var json: JSONValue { .number(self) } }
extension Array: JSONRepresentable where Element: JSONRepresentable {
  package var json: JSONValue { .array(map(\.json)) }
}
extension Optional: JSONRepresentable where Wrapped: JSONRepresentable {
  package var json: JSONValue { self?.json ?? .null }
}

extension JSONValue {
  /// An object with these members, in this order.
  package static func members(_ members: KeyValuePairs<String, any JSONRepresentable>) -> JSONValue {
    .object(members.map { ($0.key, $0.value.json) })
  }
}
