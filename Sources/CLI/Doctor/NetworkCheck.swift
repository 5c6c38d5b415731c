internal import Catalog
package import Configuration
package import HTTPKit
internal import PodcastModel
internal import PosixKit

/// Whether the search service answers.
package enum NetworkCheck {
  package static func run(_ settings: Settings) -> Finding {
    let address = settings.searchURL ?? Settings.appleSearchURL
    var request = HTTPRequest(
      url: address + (address.contains("?") ? "&" : "?") + "term=podcast&media=podcast&limit=1", settings)
    request.connectTimeout = min(settings.connectTimeout, 10)
    request.totalTimeout = 15
    request.maximumBody = 1 << 20
    return finding(Waiting.answer(to: request, within: 20), host: WebAddress(address).host ?? address)
  }

  package static func finding(_ answer: Result<HTTPResponse, HTTPError>?, host: String) -> Finding {
    let fix = "check the network (and http_proxy), or set search_url to a service that can be reached"
    switch answer {
    case .success(let response) where response.head.status == 200:
      do throws(CatalogError) {
        _ = try AppleAnswer(response.body)
      } catch {
        return .problem(
          "the answer of \(host) is not a list of podcasts",
          fix: "set search_url to a service with Apple's format")
      }
      return .fine("the search service at \(host) answers")
    case .success(let response) where response.head.status == 403 || response.head.status == 429:
      return .note("the search service at \(host) asks to wait (HTTP \(response.head.status))")
    case .success(let response):
      return .problem("the search service at \(host) answers with HTTP \(response.head.status)", fix: fix)
    case .failure(let error): return .problem("the search service: \(error)", fix: fix)
    case nil: return .problem("the search service at \(host) does not answer", fix: fix)
    }
  }
}
