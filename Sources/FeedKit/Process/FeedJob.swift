internal import PodcastModel
internal import PosixKit

/// What the process that parses a feed has to know beside its bytes. It comes in a file: addresses are not for the
/// command line, which everybody on the machine can read.
struct FeedJob: Hashable, Sendable {
  var baseURL: WebAddress?
  var httpCharset: String?
  /// Nobody waits for it.
  var isBehind: Bool

  func write(to file: borrowing FileDescriptor) throws(PosixError) {
    var record = RecordWriter(descriptor: file.rawValue)
    record.write(baseURL) { $0.write($1) }
    record.write(httpCharset) { $0.write($1) }
    record.write(isBehind)
    try record.flush()
  }

  init(baseURL: WebAddress?, httpCharset: String?, isBehind: Bool) {
    self.baseURL = baseURL
    self.httpCharset = httpCharset
    self.isBehind = isBehind
  }

  init(from file: TextFile) throws(RecordReader.Damaged) {
    var record = try RecordReader(file)
    baseURL = try record.optional { record throws(RecordReader.Damaged) in try record.address() }
    httpCharset = try record.optional { record throws(RecordReader.Damaged) in try record.text() }
    isBehind = try record.flag()
  }
}
