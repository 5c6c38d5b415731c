/// A value of a D-Bus message (D-Bus Specification, "Type System").
package indirect enum BusValue: Hashable, Sendable {
  case bool(Bool)
  case byte(UInt8)
  case int32(Int32)
  case uint32(UInt32)
  case int64(Int64)
  case uint64(UInt64)
  case double(Double)
  case string(String)
  case objectPath(String)
  /// Of elements with this signature.
  case array(String, [BusValue])
  /// `a{sv}`. A dictionary with other values is read as one, too. The values are without their variants.
  case dictionary([String: BusValue])
  case structure([BusValue])
  /// What is read has its content in its place.
  case variant(BusValue)
  /// A type that nothing here reads.
  case other

  /// "s", "as", "(ii)".
  package var signature: String {
    switch self {
    case .bool: "b"
    case .byte: "y"
    case .int32: "i"
    case .uint32: "u"
    case .int64: "x"
    case .uint64: "t"
    case .double: "d"
    case .string: "s"
    case .objectPath: "o"
    case .array(let element, _): "a" + element
    case .dictionary: "a{sv}"
    case .structure(let fields): "(" + fields.map(\.signature).joined() + ")"
    case .variant: "v"
    case .other: ""
    }
  }

  package var text: String? {
    switch self {
    case .string(let text), .objectPath(let text): text
    default: nil
    }
  }

  /// Any whole number that fits.
  package var integer: Int64? {
    switch self {
    case .byte(let number): Int64(number)
    case .int32(let number): Int64(number)
    case .uint32(let number): Int64(number)
    case .int64(let number): number
    case .uint64(let number): Int64(exactly: number)
    // Some players have their length in seconds as a number with a point.
    case .double(let number): Int64(exactly: number.rounded())
    default: nil
    }
  }

  package var number: Double? {
    if case .double(let number) = self { number } else { integer.map(Double.init) }
  }

  package var list: [BusValue] { if case .array(_, let list) = self { list } else { [] } }

  package subscript(key: String) -> BusValue? {
    if case .dictionary(let values) = self { values[key] } else { nil }
  }
}
