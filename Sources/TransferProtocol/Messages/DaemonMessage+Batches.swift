extension DaemonMessage {
  /// `changed` for as many as there are, in as many frames as it takes: none is longer than `FrameWriter.longest`.
  package static func frames(of statuses: [TransferStatus]) -> [[UInt8]] {
    var frames: [[UInt8]] = []
    var rest = statuses[...]
    while !rest.isEmpty {
      var count = rest.count
      var frame = DaemonMessage.changed(Array(rest)).frame
      while frame.count - 4 > FrameWriter.longest && count > 1 {
        count /= 2
        frame = DaemonMessage.changed(Array(rest.prefix(count))).frame
      }
      frames.append(frame)
      rest = rest.dropFirst(count)
    }
    return frames
  }
}
