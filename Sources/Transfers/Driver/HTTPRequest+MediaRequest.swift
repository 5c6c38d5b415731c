internal import HTTPKit
internal import TransferEngine
internal import TransferProtocol

extension HTTPRequest {
  init(_ request: MediaRequest) {
    self.init(url: request.url)
    if let range = request.range {
      headers.append(("Range", "bytes=\(range.start)-\(range.end.map { String($0 - 1) } ?? "")"))
      if let validator = request.validator { headers.append(("If-Range", validator)) }
    }
    let settings = request.settings
    userAgent = request.userAgent
    proxy = settings.proxy
    proxyVariables = settings.proxyVariables
    allowsPrivateHosts = request.allowsPrivateHosts
    connectTimeout = Double(settings.connectTimeout) / 1000
    stallTimeout = Double(settings.stallTimeout) / 1000
    certificateAuthorities = settings.certificateAuthorities
  }
}
