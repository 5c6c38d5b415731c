/// What of an address that is mere text may be shown: see `WebAddress`, of which this is the plain form for
/// those who know no feeds.
package enum PublicURL {
  package static func text(_ url: String) -> String { WebAddress(url).shown }
  package static func host(_ url: String) -> String? { AddressParts.host(url) }
  package static func scheme(_ url: String) -> String? { AddressParts.scheme(url) }
  package static func isWeb(_ url: String) -> Bool { AddressParts.isWeb(url) }
}
