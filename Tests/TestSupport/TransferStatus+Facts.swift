package import PodcastModel
package import TransferProtocol

extension TransferStatus {
  package init(
    key: MediaKey, state: TransferState, generation: UInt32 = 0, total: Int64? = nil, received: Int64 = 0,
    rate: Int64? = nil, eta: Int64? = nil, error: String? = nil, isKept: Bool = false,
    dropsAtClose: Bool = false, changed: Int64 = 0, order: Int64 = 0, url: String = "", title: String = "",
    show: String = "", fileName: String = ""
  ) {
    self.init(TransferRequest(key: key, url: url, title: title, show: show, fileName: fileName), state)
    (self.generation, self.total, self.received) = (generation, total, received)
    (self.rate, self.eta, self.error) = (rate, eta, error)
    (self.isKept, self.dropsAtClose) = (isKept, dropsAtClose)
    (self.changed, self.order) = (changed, order)
  }
}
