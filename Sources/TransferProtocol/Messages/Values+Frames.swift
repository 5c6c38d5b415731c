internal import PodcastModel
internal import PosixKit

extension TransferRequest {
  package func encode(into writer: inout FrameWriter) {
    writer.put(key)
    writer.put(url)
    writer.put(mediaType)
    writer.put(expectedLength)
    writer.put(title)
    writer.put(show)
    writer.put(fileName)
    writer.put(allowsPrivateHosts)
    writer.put(userAgent)
  }

  package init(from reader: inout FrameReader) throws(FrameError) {
    self.init(
      key: try reader.key(), url: try reader.string(), mediaType: try reader.optionalString(),
      // A feed's word, not a sender's fault.
      expectedLength: try reader.optionalInt64().flatMap { FrameReader.counts.contains($0) ? $0 : nil },
      title: try reader.string(), show: try reader.string(),
      fileName: try reader.string(), allowsPrivateHosts: try reader.bool(),
      userAgent: try reader.optionalString())
  }
}

extension TransferStatus {
  package func encode(into writer: inout FrameWriter) {
    writer.put(key)
    writer.put(state.rawValue)
    writer.put(generation)
    writer.put(total)
    writer.put(received)
    writer.put(rate)
    writer.put(eta)
    writer.put(error)
    writer.put(isKept)
    writer.put(changed)
    writer.put(order)
    writer.put(url)
    writer.put(title)
    writer.put(show)
    writer.put(fileName)
    writer.put(moment)
  }

  package init(from reader: inout FrameReader) throws(FrameError) {
    let key = try reader.key()
    guard let state = TransferState(rawValue: try reader.uint8()) else { throw .malformed }
    self.init(
      key: key, state: state, generation: try reader.uint32(), total: try reader.optionalCount(),
      received: try reader.count(), rate: try reader.optionalCount(), eta: try reader.optionalCount(),
      error: try reader.optionalString(), isKept: try reader.bool(), changed: try reader.count(),
      order: try reader.count(), url: try reader.string(), title: try reader.string(),
      show: try reader.string(), fileName: try reader.string())
    moment = try reader.int64()
  }
}

extension TransferFailure {
  func encode(into writer: inout FrameWriter) {
    writer.put(errno.rawValue)
    writer.put(message)
  }

  init(from reader: inout FrameReader) throws(FrameError) {
    self.init(Errno(rawValue: try reader.integer()), try reader.string())
  }
}
