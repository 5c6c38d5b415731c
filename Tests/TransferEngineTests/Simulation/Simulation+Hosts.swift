import PodcastModel
import TransferProtocol

@testable import TransferEngine

// What the hosts answer.
extension Simulation {
  func ask(_ flow: FlowID, _ request: MediaRequest) {
    guard let index = episodes.firstIndex(where: { request.url.contains("/\($0.number).mp3") }) else {
      return fail("asks for \(request.url)")
    }
    let isFresh = request.url.hasSuffix("?fresh")
    if time < episodes[index].forbiddenUntil && isFresh == episodes[index].forbidsFresh {
      fail(
        "asks for episode \(index) \(Double(episodes[index].forbiddenUntil - time) / 1e9) s before Retry-After"
      )
    }
    // A slow disk has not taken what the responses before hold in memory.
    episodes[index].mayComeAgain += disk.slowness > 0 ? Limits.heldEach.most : Self.again
    checkManners(of: index)
    count("requests")
    var response = SimulatedResponse(flow: flow, episode: index, version: episodes[index].version)
    response.start = request.range?.lowerBound ?? 0
    response.end = min(request.range?.upperBound ?? .max, response.version.size)
    responses[flow] = response
    requests[flow] = request
    schedule(.answer(flow), in: 0.02 + Double(random.below(100)) / 1000)
  }

  func answer(_ flow: FlowID) {
    guard var response = responses[flow], let request = requests.removeValue(forKey: flow) else { return }
    let episode = episodes[response.episode]
    let mood = isCalm ? .honest : episode.mood
    count("answers of a host that is \(mood)")
    // It may have changed since it was asked.
    response = SimulatedResponse(flow: flow, episode: response.episode, version: episode.version)
    let size = episode.version.size
    var head = ResponseHead(status: 200, url: episode.finalURL)
    var start: Int64 = 0
    var end = size
    if let range = request.range {
      let isSame = request.validator == nil || request.validator == episode.version.entityTag
      if isSame && range.lowerBound < size {
        head.status = 206
        start = range.lowerBound
        end = min(range.upperBound, size)
        head.part = start..<end
        head.partTotal = size
      } else if isSame {
        head.status = 416
        head.partTotal = size
      }
    }
    head.length = end - start
    head.entityTag = episode.version.entityTag
    head.mediaType = "audio/mpeg"
    head.acceptsRanges = true
    response.sender = episode.sender
    response.rate = 200_000 + Int64(random.below(4_000_000))
    var firstBytes: [UInt8] = Array("ID3".utf8) + [UInt8](repeating: 200, count: 600)
    func whole() {
      (head.status, start, end, head.part, head.partTotal, head.length) = (200, 0, size, nil, nil, size)
    }
    func plain(_ status: Int) { (head.status, start, end, head.part) = (status, 0, 100, nil) }
    switch mood {
    case .honest: break
    case .slow: response.rate = 30_000
    case .crawls: response.rate = 20
    case .dead:
      responses[flow] = nil
      return tell(
        .ended(
          flow,
          Fault(.passing, "connection refused", host: "host\(episode.host).example")))
    case .stalls:
      response.breaksAt = start + Int64(random.below(Int(end - start) + 1))
      response.stalls = true
    case .cuts: response.breaksAt = start + Int64(random.below(Int(end - start) + 1))
    case .busy:
      plain(503)
      head.retryAfter = random.chance(1, 2) ? Int64(random.below(40)) : nil
      // Beside another response it is refused without a word to the queue.
      if let seconds = head.retryAfter,
        !responses.values.contains(where: { $0.episode == response.episode && $0.flow != flow })
      {
        episodes[response.episode].forbiddenUntil = time + seconds * 1_000_000_000
        episodes[response.episode].forbidsFresh = request.url.hasSuffix("?fresh")
        count("hosts that want to be left alone")
      }
    case .gone: plain(404)
    case .forbidden: plain(403)
    case .login: plain(511)
    case .page:
      whole()
      firstBytes = Array("<!DOCTYPE html><html>".utf8)
    case .ignoresRange: whole()
    case .shiftsRange:
      if head.status == 206, start > 5000 {
        start -= 5000
        head.part = start..<end
        head.length = end - start
      }
    case .refusesRange: if request.range != nil { plain(416) }
    case .nonsensePart: if head.status == 206 { head.part = nil; head.partTotal = nil }
    case .withoutLength, .withoutLengthByClose:
      whole()
      head.length = nil
      head.isDelimitedByClose = mood == .withoutLengthByClose
      if random.chance(1, 3) {
        response.breaksAt = Int64(random.below(Int(size)))
        response.endsCleanly = false
      }
    case .withoutValidators: head.entityTag = nil
    case .compresses:
      whole()
      head.encoding = "gzip"
      firstBytes = [0x1f, 0x8b, 8]
    case .empty:
      whole()
      (head.length, end) = (0, 0)
    case .moves:
      response.sender = 100 + random.below(3)
      head.url = "http://elsewhere\(response.sender ?? 0).example/\(episode.number).mp3"
    }
    if ![200, 206].contains(head.status) { (start, end, response.sender) = (0, 100, nil) }
    response.start = start
    response.end = end
    response.at = start
    responses[flow] = response
    if head.status == 206 { forgiveAnotherAddress(head, response.episode) }
    let isPiece = end > start
    if head.status == 200 && !isPiece { firstBytes = [] }
    if head.status != 200 && head.part?.lowerBound != 0 { firstBytes = [] }
    tell(.head(flow, head, firstBytes: Array(firstBytes.prefix(512))))
    schedule(.deliver(flow), in: 0.001)
  }

  /// A part from another address than before is checked by what is here in front of it. Where there is nothing, it can't
  /// be told from another file's, and all may come again.
  private func forgiveAnotherAddress(_ head: ResponseHead, _ episode: Int) {
    guard let start = head.part?.lowerBound,
      let latest = disk.files.filter({ $0.key.key == episodes[episode].key })
        .max(by: { $0.key.generation < $1.key.generation })?.value,
      latest.representation.finalURL != head.url,
      latest.written.run(at: start).map({ $0.upperBound - start < ResponseJudge.overlap }) ?? true,
      latest.written.run(at: start - 1).map({ $0.length < ResponseJudge.overlap }) ?? true
    else { return }
    episodes[episode].mayComeAgain += episodes[episode].delivered.count
  }

  func deliver(_ flow: FlowID) {
    guard var response = responses[flow], !response.isHeld, response.silentSince == 0
    else { return }
    let last = min(response.end, response.breaksAt ?? .max)
    if response.at >= last {
      if response.at >= response.end {
        tell(.ended(flow, nil))
      } else if response.stalls {
        responses[flow]?.silentSince = time
        return schedule(.breakOff(flow, "sent nothing for 30 s"), in: 30)
      } else {
        var failure = Fault(.passing, "broke off")
        failure.isShortBody = true
        tell(.ended(flow, failure))
      }
      return
    }
    let count = min(last - response.at, max(response.rate / 20, 1), 131_072)
    response.at += count
    responses[flow] = response
    delivered(response.at - count..<response.at, by: response)
    tell(.came(flow, Int(count)))
    schedule(.deliver(flow), in: Double(count) / Double(response.rate))
  }

  func breakOff(_ flow: FlowID, _ why: String) {
    if responses[flow] != nil { tell(.ended(flow, Fault(.passing, why))) }
  }
}
