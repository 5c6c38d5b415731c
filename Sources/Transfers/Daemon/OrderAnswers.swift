internal import PosixKit
internal import TransferEngine
internal import TransferProtocol

/// Holds the answer to an order until every other client shows what has come of it: what one mount has done is seen in
/// all others at the next call. Belongs to the loop.
///
/// Each observer is told what has changed and then asked to say when it shows that. One that does not in time (it is
/// stopped, or very busy) is not waited for again before it has answered.
final class OrderAnswers {
  typealias Answer = (client: ClientID, message: DaemonMessage)
  private struct Held {
    var answers: [Answer]
    var awaited: Set<ClientID>
    var timer: EventLoop.Timer?
  }
  private let loop: EventLoop
  /// By the number of the question, which grows.
  private var held: [UInt64: Held] = [:]
  private var last: UInt64 = 0
  /// Those that have not answered in time, each with the question.
  private var late: [ClientID: UInt64] = [:]
  /// Takes answers that may go.
  var release: ([Answer]) -> Void = { _ in }
  /// In seconds, for one that is slow.
  private static let patience = 0.5

  init(loop: EventLoop) { self.loop = loop }

  /// - Parameter observers: they have been told of what has changed, or are before anything else.
  func give(_ answers: [Answer], asking observers: some Sequence<ClientConnection>) {
    let clients = Set(answers.map(\.client))
    let asked = observers.filter { observer in
      observer.saysWhatItShows && late[observer.id] == nil && clients != [observer.id]
    }
    if asked.isEmpty { return release(answers) }
    last += 1
    let question = last
    for observer in asked { observer.send(.look(question)) }
    held[question] = Held(answers: answers, awaited: Set(asked.map(\.id)))
    held[question]?.timer = loop.schedule(at: .after(Self.patience)) { [weak self] in self?.expire(question) }
    settle(question)
  }

  /// A client shows all that it was told before a question.
  func shown(_ question: UInt64, by client: ClientID) {
    if let missed = late[client], question >= missed { late[client] = nil }
    for earlier in held.keys.sorted() where earlier <= question {
      held[earlier]?.awaited.remove(client)
      settle(earlier)
    }
  }

  /// A client has gone.
  func left(_ client: ClientID) {
    late[client] = nil
    for question in held.keys.sorted() {
      held[question]?.awaited.remove(client)
      settle(question)
    }
  }

  private func expire(_ question: UInt64) {
    guard let entry = held.removeValue(forKey: question) else { return }
    for client in entry.awaited { late[client] = max(late[client] ?? 0, question) }
    release(entry.answers)
    // Nor is it waited for in what came later.
    for client in entry.awaited {
      for later in held.keys.sorted() where held[later]?.awaited.remove(client) != nil {
        late[client] = max(late[client] ?? 0, later)
        settle(later)
      }
    }
  }

  /// Lets go of the answers to those whom nobody else keeps waiting: each sees to what it shows itself.
  private func settle(_ question: UInt64) {
    guard var entry = held.removeValue(forKey: question) else { return }
    let awaited = entry.awaited
    let isFree = { (answer: Answer) in awaited.isSubset(of: [answer.client]) }
    let free = entry.answers.filter(isFree)
    entry.answers.removeAll(where: isFree)
    if !entry.answers.isEmpty {
      held[question] = entry
    } else if let timer = entry.timer {
      loop.cancel(timer)
    }
    if !free.isEmpty { release(free) }
  }
}
