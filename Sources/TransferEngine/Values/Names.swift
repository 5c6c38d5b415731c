/// A number that names a thing of one kind: it is given once.
package struct Number<Kind>: Hashable, Comparable, Sendable {
  package let number: UInt64
  package init(_ number: UInt64) { self.number = number }
  package static func < (a: Number, b: Number) -> Bool { a.number < b.number }
}

/// A client's connection.
package typealias ClientID = Number<ClientKind>
/// A response, asked for once.
package typealias FlowID = Number<FlowKind>
/// The files of one generation, opened once.
package typealias StoreID = Number<StoreKind>

package enum ClientKind {}
package enum FlowKind {}
package enum StoreKind {}

/// An open, a wait or an order of a client, by the client's own number.
package struct ClientNumber: Hashable, Sendable {
  package var client: ClientID
  package var id: UInt64
}
