internal import PodcastModel
internal import PosixKit

/// What the process that parses a document has to know beside its bytes. It comes in a file: everybody on the machine
/// can read a command line, and addresses are secret.
struct FeedJob: Hashable, Sendable {
  var baseURL: WebAddress?
  var httpCharset: String?
  /// Nobody waits for it.
  var isBehind: Bool
  /// Whether a list of subscriptions is wanted rather than a feed.
  var wantsList = false

  func write(to file: borrowing FileDescriptor) throws(PosixError) {
    var record = RecordWriter(descriptor: file.rawValue)
    record.write(baseURL) { $0.write($1) }
    record.write(httpCharset) { $0.write($1) }
    record.write(isBehind)
    record.write(wantsList)
    try record.flush()
  }

  init(baseURL: WebAddress?, httpCharset: String?, isBehind: Bool, wantsList: Bool = false) {
    self.baseURL = baseURL
    self.httpCharset = httpCharset
    self.isBehind = isBehind
    self.wantsList = wantsList
  }

  init(from file: TextFile) throws(RecordReader.Damaged) {
    var record = try RecordReader(file)
    baseURL = try record.optional { record throws(RecordReader.Damaged) in try record.address() }
    httpCharset = try record.optional { record throws(RecordReader.Damaged) in try record.text() }
    isBehind = try record.flag()
    wantsList = try record.flag()
  }
}
