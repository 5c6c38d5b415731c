internal import Glibc
internal import WebValues

/// Which proxy libcurl uses: the request's, else that of `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`
/// (curl_easy_setopt(3) CURLOPT_PROXY and CURLOPT_NOPROXY).
package struct ProxyRules {
  private let proxy: String?
  private let environment: (String) -> String?

  /// - Parameter variables: nil for those of the process's environment.
  package init(proxy: String?, variables: [String: String]? = nil) {
    self.proxy = proxy
    environment = { name in
      if let variables { return variables[name] }
      return getenv(name).map { String(cString: $0) }
    }
  }

  /// The proxy for `url`, as libcurl takes it; nil where none is in use.
  package func address(for url: String) -> String? {
    guard let scheme = WebAddress(url).scheme, let host = WebAddress(url).host, !isExcepted(host) else {
      return nil
    }
    let proxy =
      self.proxy
      // HTTP_PROXY in capitals is left out, as by libcurl: in a CGI it is the client's word.
      ?? environment("\(scheme)_proxy")
      ?? (scheme == "http" ? nil : environment("\(scheme.uppercased())_PROXY"))
      ?? environment("all_proxy") ?? environment("ALL_PROXY")
    return proxy.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Whether `no_proxy` names the host: the whole name or the end of it at a dot, or `*` alone for all.
  private func isExcepted(_ host: String) -> Bool {
    guard let list = environment("no_proxy") ?? environment("NO_PROXY") else { return false }
    let items = list.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
    return items.contains { item in
      if item == "*" { return true }
      var name = item.first == "." ? item.dropFirst() : item
      if name.last == "." { name = name.dropLast() }
      if name.first == "[" { name = name.dropFirst().prefix { $0 != "]" } }
      let plain = host.last == "." ? String(host.dropLast()) : host
      return plain == name || plain.hasSuffix("." + name)
    }
  }

  /// Host and port of a proxy, as people know it: without its credentials. libcurl takes one without a scheme, too.
  package static func name(of proxy: String) -> String {
    let address = WebAddress(proxy.contains("://") ? proxy : "http://" + proxy)
    return String(address.shown.drop { $0 != ":" }.dropFirst(3).prefix { $0 != "/" })
  }
}
