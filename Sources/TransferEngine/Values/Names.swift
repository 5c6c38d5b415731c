/// A client's connection.
package struct ClientID: Hashable, Comparable, Sendable {
  package let number: UInt64
  package init(_ number: UInt64) { self.number = number }
  package static func < (a: ClientID, b: ClientID) -> Bool { a.number < b.number }
}

/// A response, asked for once.
package struct FlowID: Hashable, Comparable, Sendable {
  package let number: UInt64
  package init(_ number: UInt64) { self.number = number }
  package static func < (a: FlowID, b: FlowID) -> Bool { a.number < b.number }
}

/// The files of one generation, opened once.
package struct StoreID: Hashable, Comparable, Sendable {
  package let number: UInt64
  package init(_ number: UInt64) { self.number = number }
  package static func < (a: StoreID, b: StoreID) -> Bool { a.number < b.number }
}

/// Records given to the disk together.
package struct SaveID: Hashable, Comparable, Sendable {
  package let number: UInt64
  package init(_ number: UInt64) { self.number = number }
  package static func < (a: SaveID, b: SaveID) -> Bool { a.number < b.number }
}

/// An open episode of a client, by the client's own number.
package struct HandleName: Hashable, Sendable {
  package var client: ClientID
  package var id: UInt64
}
