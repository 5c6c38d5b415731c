internal import Catalog
package import Configuration
package import HTTPKit
package import PodcastModel
internal import PodcastTree
package import PosixKit
internal import TransferProtocol

package final class SidecarDownloads: SidecarFetcher {
  private let http: HTTPClient
  private let settings: Settings
  private let log: LogFile
  /// In bytes: longer ones fail.
  private static let limit: Int64 = 16 << 20

  package init(http: HTTPClient, settings: Settings, log: LogFile) {
    (self.http, self.settings, self.log) = (http, settings, log)
  }

  package func fetch(
    _ url: WebAddress, allowsPrivateHosts: Bool, acceptsPages: Bool,
    completion: @escaping @Sendable (Result<[UInt8], Errno>) -> Void
  ) -> any Cancellable {
    let log = log
    let task = http.fetch(request(url, allowsPrivateHosts)) { result in
      do {
        completion(.success(try Self.body(of: result.get(), acceptsPages: acceptsPages)))
      } catch let error as HTTPError where error.code == .cancelled {
        completion(.failure(.EINTR))
      } catch {
        let reason = error as? CatalogError ?? (error as? HTTPError).map { CatalogError($0) }
        log.write("cannot fetch from \(url.host ?? "?"): \(reason?.message ?? "\(error)")")
        completion(.failure(reason?.errno ?? .EIO))
      }
    }
    return task
  }

  private func request(_ url: WebAddress, _ allowsPrivateHosts: Bool) -> HTTPRequest {
    var request = HTTPRequest(url: url.forRequest, settings)
    request.acceptsCompression = true
    request.allowsPrivateHosts = allowsPrivateHosts
    request.connectTimeout = min(settings.connectTimeout, settings.readTimeout)
    request.stallTimeout = min(settings.stallTimeout, settings.readTimeout)
    request.totalTimeout = settings.readTimeout
    request.maximumBody = Self.limit
    return request
  }

  /// A web page in the place of a picture or a text is an error's, or a portal's.
  private static func body(of response: HTTPResponse, acceptsPages: Bool) throws -> [UInt8] {
    let host = WebAddress(response.head.effectiveURL).host ?? "the server"
    guard response.head.status == 200 else { throw CatalogError(status: response.head.status, host: host) }
    if !acceptsPages, response.head.value("content-type").map(MediaType.essence) == "text/html" {
      throw CatalogError(.EPROTO, "\(host) sent a web page")
    }
    return response.body
  }
}
