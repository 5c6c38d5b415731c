internal import FoundationEssentials
internal import HTTPServerKit

/// One answer of an origin: what it should be, with the faults that were switched on.
struct OriginAnswer {
  let request: ServerRequest
  let resource: OriginResource
  let behaviour: OriginBehaviour
  /// The number of the request, which variants follow from.
  let number: Int

  func send(_ writer: ResponseWriter) throws(ResponseWriter.Ended) {
    if let latency = behaviour.latency { try writer.pause(latency) }
    if behaviour.refusesToAnswer { throw writer.cut() }
    if try redirect(writer) { return }
    if let (status, headers) = refusal {
      return try writer.respond(status, headers, body: Array("status \(status)".utf8))
    }
    if behaviour.isWebPage {
      let page = "<!DOCTYPE html><html><body>Please log in to the harbour's network.</body></html>"
      return try writer.respond(200, [("Content-Type", "text/html; charset=utf-8")], body: Array(page.utf8))
    }
    try content(writer)
  }

  /// Sends a redirect where one is due.
  private func redirect(_ writer: ResponseWriter) throws(ResponseWriter.Ended) -> Bool {
    let hop = Int(request.query("hop") ?? "") ?? 0
    var headers: [(name: String, value: String)] = []
    if let target = behaviour.redirectTarget {
      headers.append(("Location", target))
    } else if behaviour.redirectsForEver || hop < behaviour.redirects {
      let rest = request.query.filter { $0.name != "hop" }.map { "&\($0.name)=\($0.value)" }.joined()
      headers.append(("Location", "\(request.path)?hop=\(hop + 1)\(rest)"))
      if behaviour.needsCookie && hop + 1 == behaviour.redirects {
        headers.append(("Set-Cookie", "harbour=open; Path=/"))
      }
    }
    if headers.isEmpty { return false }
    try writer.respond(behaviour.redirectStatus, headers, body: Array("moved".utf8))
    return true
  }

  /// The status that it answers with in place of the content.
  private var refusal: (Int, [(name: String, value: String)])? {
    if let credentials = behaviour.basicCredentials,
      request.header("authorization") != "Basic \(Data(credentials.utf8).base64EncodedString())"
    {
      return (401, [("WWW-Authenticate", "Basic realm=\"harbour\"")])
    }
    if let query = behaviour.requiredQuery,
      !request.query.contains(where: { "\($0.name)=\($0.value)" == query })
    {
      return (403, [])
    }
    if behaviour.needsCookie, request.header("cookie")?.contains("harbour=open") != true { return (403, []) }
    guard let status = behaviour.status else { return nil }
    return (status, behaviour.retryAfter.map { [("Retry-After", $0)] } ?? [])
  }

  private func content(_ writer: ResponseWriter) throws(ResponseWriter.Ended) {
    let size = resource.content.size
    if behaviour.compresses {
      let coded = Gzip.stored(resource.content.bytes(0..<size))
      let headers = [("Content-Type", resource.mediaType), ("Content-Encoding", "gzip")]
      try writer.begin(200, headers, length: Int64(coded.count))
      return try send(0..<Int64(coded.count), writer) {
        Array(coded[Int($0.lowerBound)..<Int($0.upperBound)])
      }
    }
    var served = ServedContent(size: size, mediaType: resource.mediaType, read: { _ in [] })
    if !behaviour.omitsValidators {
      served.etag = resource.etag
      served.lastModified = resource.lastModified
    }
    let answer = departed(served.answer(to: asked))
    let range = answer.range ?? 0..<0
    let told = Int64(range.count) + (answer.status == 200 ? behaviour.totalError : 0)
    try writer.begin(
      answer.status, answer.headers, length: behaviour.omitsLength && answer.range != nil ? nil : told)
    if !writer.isHead { try send(range, writer, variant) }
  }

  /// The request as the server takes it.
  private var asked: ServerRequest {
    var asked = request
    if behaviour.ignoresRange { asked.headers.removeAll { $0.name == "range" } }
    return asked
  }

  /// The answer with what is wrong in its head.
  private func departed(_ answer: ServedContent.Answer) -> ServedContent.Answer {
    var answer = answer
    let total = resource.content.size + behaviour.totalError
    if behaviour.ignoresRange { answer.headers.removeAll { $0.name == "Accept-Ranges" } }
    if behaviour.refusesRange, request.header("range") != nil {
      return ServedContent.Answer(status: 416, headers: [("Content-Range", "bytes */\(total)")])
    }
    if answer.status == 206, let range = answer.range {
      let start = min(max(range.lowerBound + behaviour.rangeShift, 0), range.upperBound - 1)
      answer.range = start..<range.upperBound
      answer.headers.removeAll { $0.name == "Content-Range" }
      answer.headers.append(("Content-Range", "bytes \(start)-\(range.upperBound - 1)/\(total)"))
    }
    return answer
  }

  /// The bytes of this answer's representation.
  private func variant(_ range: Range<Int64>) -> [UInt8] {
    var bytes = resource.content.bytes(range)
    guard let start = behaviour.variesFrom, range.upperBound > start else { return bytes }
    let mark = UInt8(truncatingIfNeeded: number &+ 1)
    for index in Int(max(start - range.lowerBound, 0))..<bytes.count { bytes[index] ^= mark }
    return bytes
  }

  /// Sends the body, up to where it is to be cut, reset or kept in silence.
  private func send(
    _ range: Range<Int64>, _ writer: ResponseWriter, _ read: (Range<Int64>) -> [UInt8]
  ) throws(ResponseWriter.Ended) {
    writer.rate = behaviour.rate
    let faults = [behaviour.cutAfter, behaviour.resetAfter, behaviour.stallAfter]
    let end = faults.compactMap { $0 }.reduce(range.upperBound) { min($0, range.lowerBound + $1) }
    var position = range.lowerBound
    while position < end {
      let next = min(position + 64 * 1024, end)
      try writer.write(read(position..<next))
      position = next
    }
    if end == range.upperBound { return }
    if behaviour.stallAfter != nil { try writer.pause(3600) }
    throw behaviour.resetAfter != nil ? writer.reset() : writer.cut()
  }
}
