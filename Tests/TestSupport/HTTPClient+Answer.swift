package import HTTPKit
internal import PosixKit

extension HTTPClient {
  /// Waits for the answer, or why there is none; nil after ten seconds.
  package func answer(_ request: HTTPRequest) -> Result<HTTPResponse, HTTPError>? {
    let result = Monitor<Result<HTTPResponse, HTTPError>?>(nil)
    fetch(request) { answer in result.withLockNotifying { $0 = answer } }
    return result.wait(until: .after(patience)) { $0 }
  }
}

extension HTTPRequest {
  /// A request to a server of a test's own, with what `change` sets.
  package static func local(_ url: String, _ change: (inout Self) -> Void = { _ in }) -> HTTPRequest {
    var request = HTTPRequest(url: url)
    request.allowsPrivateHosts = true
    change(&request)
    return request
  }
}

extension Result {
  package var failure: Failure? {
    if case .failure(let error) = self { return error }
    return nil
  }
}
