internal import Glibc
internal import PodcastModel
internal import PosixKit

/// The process that parses one document: `podcastfs` in a mode that no user calls. Its standard input is the
/// document, descriptor 3 the job. It writes what it makes of them on its standard output, and can reach nothing else
/// (see `Sandbox`).
package enum FeedWorker {
  package static let argument = "--parse-feed"
  /// The argument that has it try what its sandbox leaves open, and say so on its standard error.
  package static let probeArgument = "--probe-sandbox"
  /// Seconds on a processor: some hundred times as long as the largest honest feed takes.
  private static let processorSeconds = 20
  /// Bytes of memory: the largest feed that is taken, several times over.
  private static let memory = 512 << 20

  /// - Returns: the exit status; 0 also where the document is another one, which the output says.
  package static func run() -> Int32 {
    ResourceLimits.confine(memory: memory, processorSeconds: processorSeconds)
    do {
      guard let job: FeedJob = PipedValue.read(from: 3, limit: 1 << 16) else { return 1 }
      let input = FileDescriptor(owning: 0)
      let size = Int(try input.status().st_size)
      let mapped = size == 0 ? nil : try SharedMemory(input, size: size, writable: false)
      defer { withExtendedLifetime(mapped) {} }
      let bytes = UnsafeRawBufferPointer(start: mapped?.bytes.baseAddress, count: size)
      // Decoders of rare encodings are files: they are opened before.
      let document = XMLDocument(bytes, httpCharset: job.httpCharset)
      Sandbox.enter(closingFrom: 3)
      if job.wantsList {
        try PipedValue.write(Result { () throws(FeedError) in try OPMLDocument.parse(document) }, to: 1)
      } else {
        let feed = Result { () throws(FeedError) in
          try FeedParser.parse(document, baseURL: job.baseURL, limits: FeedLimits())
        }
        try PipedValue.write(feed, to: 1)
      }
      return 0
    } catch {
      return 1
    }
  }

  /// - Returns: the exit status: 0 where the process can no longer do what it should not.
  package static func probe() -> Int32 {
    let protections = Sandbox.enter(closingFrom: 3)
    let gaps = Sandbox.gaps()
    var words = gaps.map { "can " + $0 }
    if !protections.contains(.files) { words.append("without Landlock") }
    if !protections.contains(.calls) { words.append("without seccomp") }
    _ = words.joined(separator: ", ").withCString { write(STDERR_FILENO, $0, strlen($0)) }
    return gaps.isEmpty ? 0 : 1
  }
}
