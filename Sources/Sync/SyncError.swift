/// Why a synchronization failed, in one line for a person: with the host, and without any secret.
package struct SyncError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Kind: Hashable, Sendable {
    /// The server does not take the user's name or password: it is not asked again with these.
    case refused
    /// It wishes not to be asked for so many seconds.
    case busy(Int64)
    /// There is no such place on the server.
    case missing
    case other
  }

  package var kind: Kind
  package var description: String

  package init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }

  package init(_ description: String) { self.init(.other, description) }
}
