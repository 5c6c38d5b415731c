/// A value that a statement's placeholder or a column can hold.
package enum DatabaseValue: Hashable, Sendable {
  case null
  case integer(Int64)
  case text(String)
  case blob([UInt8])
}

/// A type whose values can be bound to a placeholder.
package protocol Bindable: Sendable {
  var databaseValue: DatabaseValue { get }
}

extension DatabaseValue: Bindable {
  package var databaseValue: DatabaseValue { self }
}

extension Int64: Bindable {
  package var databaseValue: DatabaseValue { .integer(self) }
}

extension Int: Bindable {
  package var databaseValue: DatabaseValue { .integer(Int64(self)) }
}

/// As 0 or 1.
extension Bool: Bindable {
  package var databaseValue: DatabaseValue { .integer(self ? 1 : 0) }
}

extension String: Bindable {
  package var databaseValue: DatabaseValue { .text(self) }
}

/// Bytes, as a blob.
extension [UInt8]: Bindable {
  package var databaseValue: DatabaseValue { .blob(self) }
}

/// nil is NULL.
extension Optional: Bindable where Wrapped: Bindable {
  package var databaseValue: DatabaseValue { self?.databaseValue ?? .null }
}
