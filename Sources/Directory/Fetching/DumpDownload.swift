internal import Glibc
internal import HTTPKit
internal import PodcastModel
internal import PosixKit

/// One answer with a dump or with the rest of it, written to a file as it comes. The HTTP client's thread uses it until the
/// outcome is set, then the thread that waits for the outcome. The outcome's lock orders the two: that makes it Sendable.
final class DumpDownload: HTTPResponseReceiver, @unchecked Sendable {
  enum Outcome: Sendable {
    /// All is here.
    case complete
    /// The server has the dump that is installed.
    case unchanged
    /// More may come by another request.
    case cut(HTTPError)
    /// The server has another dump than the part that is here.
    case replaced
    case failed(any Error)
  }

  private let part: DumpPart
  private let known: (identity: DumpIdentity, bytes: Int64)?
  private let installed: DumpIdentity?
  private let url: String
  /// Called with the whole size, before anything is written.
  private let checkRoom: (Int64) throws -> Void
  private let progress: (Int64, Int64?) -> Void

  private var file: FileDescriptor?
  /// What it is, as far as that is known.
  private(set) var identity: DumpIdentity?
  private(set) var bytes: Int64
  /// The first bytes of an answer that is no dump.
  private var text: [UInt8]?
  private var status = 0
  private var failure: Outcome?
  private let outcome = Monitor<Outcome?>(nil)

  init(
    url: String, part: DumpPart, installed: DumpIdentity?, checkRoom: @escaping (Int64) throws -> Void,
    progress: @escaping (Int64, Int64?) -> Void
  ) {
    (self.url, self.part, self.checkRoom, self.progress) = (url, part, checkRoom, progress)
    self.installed = installed
    known = part.found(of: url)
    bytes = known?.bytes ?? 0
    identity = known?.identity
  }

  /// The header lines that ask for what is missing (RFC 9110 §14.2), or for a dump other than the one that is installed.
  func headers() -> [(name: String, value: String)] {
    if let known, let validator = known.identity.validator {
      return [("Range", "bytes=\(known.bytes)-"), ("If-Range", validator)]
    }
    if let tag = installed?.entityTag { return [("If-None-Match", tag)] }
    return installed?.lastModified.map { [("If-Modified-Since", $0)] } ?? []
  }

  /// Waits for the answer's end.
  func wait() -> Outcome { outcome.wait { $0 } ?? .cut(.cancelled) }

  func received(head: HTTPResponseHead) -> HTTPFlow {
    status = head.status
    do {
      switch head.status {
      case 200:
        let identity = DumpIdentity(url: url, head)
        // A simple server answers with the whole file, whatever is asked.
        if identity == installed, identity.validator != nil { return stop(.unchanged) }
        bytes = 0
        try begin(identity)
      case 206:
        let identity = DumpIdentity(url: url, head)
        guard let known, head.contentRange?.range?.lowerBound == known.bytes, identity == known.identity
        else {
          return stop(.replaced)
        }
        self.identity = identity
        file = try FileDescriptor(openingRegular: part.path, O_WRONLY | O_APPEND)
      case 304: return stop(.unchanged)
      case 416: return stop(known?.bytes == known?.identity.length && known != nil ? .complete : .replaced)
      default: text = []
      }
    } catch {
      return stop(.failed(error))
    }
    return .proceed
  }

  private func begin(_ identity: DumpIdentity) throws {
    try checkRoom(identity.length ?? 0)
    try part.begin(identity)
    file = try FileDescriptor(openingRegular: part.path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND)
    self.identity = identity
  }

  func received(body piece: UnsafeRawBufferPointer) -> HTTPFlow {
    if let text {
      self.text = text + piece.prefix(500)
      return text.count < 500 ? .proceed : .abort
    }
    do {
      if bytes == 0 { _ = try DumpUnpacker.isCompressed(piece) }
      try file?.append(piece)
    } catch {
      part.remove()
      return stop(.failed(error))
    }
    bytes += Int64(piece.count)
    progress(bytes, identity?.length)
    return .proceed
  }

  private func stop(_ outcome: Outcome) -> HTTPFlow {
    failure = outcome
    return .abort
  }

  func finished(_ error: HTTPError?) {
    let result: Outcome
    if let failure {
      result = failure
    } else if let text {
      result = .failed(refusal(text))
    } else if let error {
      result = .cut(error)
    } else if let length = identity?.length, bytes != length {
      result = .cut(HTTPError(.shortBody, "the dump was cut short", .EIO))
    } else {
      result = .complete
    }
    outcome.withLockNotifying { $0 = result }
  }

  /// What a person can do about an answer that is no dump.
  private func refusal(_ body: [UInt8]) -> DirectoryError {
    let host = WebAddress(url).host ?? "the server"
    let words = PrintableText.line(String(decoding: body.prefix(200), as: UTF8.self))
    let isText = !words.isEmpty && !words.hasPrefix("<")
    switch status {
    case 403:
      return DirectoryError(
        .EACCES,
        "HTTP 403 from \(host): it refuses what this program is called (user_agent)"
          + (isText ? ": \(words)" : ""))
    case 404, 410:
      return DirectoryError(.ENOENT, "HTTP \(status) from \(host): no dump is there (directory_url)")
    case 429, 500...599: return DirectoryError(.EAGAIN, "HTTP \(status) from \(host): try again later")
    default: return DirectoryError(.EIO, "HTTP \(status) from \(host)" + (isText ? ": \(words)" : ""))
    }
  }
}
