import HTTPKit
import PosixKit
import TestSupport

/// Keeps all that a request brings, in the order it came, and does what a test says at each step.
final class RecordingReceiver: HTTPResponseReceiver, Sendable {
  struct Record: Sendable {
    var heads: [HTTPResponseHead] = []
    var body: [UInt8] = []
    var pieces = 0
    var ends: [HTTPError?] = []
    var order: [String] = []
  }

  private let record = Monitor(Record())
  private let onHead: @Sendable () -> HTTPFlow
  private let onBody: @Sendable (Int) -> HTTPFlow

  init(
    onHead: @escaping @Sendable () -> HTTPFlow = { .proceed },
    onBody: @escaping @Sendable (Int) -> HTTPFlow = { _ in .proceed }
  ) {
    self.onHead = onHead
    self.onBody = onBody
  }

  func received(head: HTTPResponseHead) -> HTTPFlow {
    record.withLockNotifying {
      $0.heads.append(head)
      $0.order.append("head")
    }
    return onHead()
  }

  func received(body: UnsafeRawBufferPointer) -> HTTPFlow {
    let soFar = record.withLock { $0.body.count }
    let flow = onBody(soFar)
    let bytes = Array(body)
    record.withLockNotifying {
      $0.pieces += 1
      if flow == .proceed {
        $0.body += bytes
        $0.order.append("body")
      } else {
        $0.order.append("\(flow)")
      }
    }
    return flow
  }

  func finished(_ error: HTTPError?) {
    record.withLockNotifying {
      $0.ends.append(error)
      $0.order.append("end")
    }
  }

  /// The record once `condition` holds for it; nil after ten seconds.
  func record(when condition: @escaping (Record) -> Bool) -> Record? {
    record.wait(until: .after(patience)) { condition($0) ? $0 : nil }
  }

  /// The record after the end.
  var ended: Record? { record { !$0.ends.isEmpty } }
}
