/// How the environment names proxies (libcurl-env(3)). `HTTP_PROXY` is none of them: in a CGI it is the client's
/// word.
package enum ProxyVariables {
  package static let names = [
    "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
  ]

  /// Those that are set in `environment`.
  package static func of(_ environment: [String: String]) -> [String: String] {
    environment.filter { names.contains($0.key) }
  }
}
