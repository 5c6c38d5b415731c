import PodcastModel
import Testing

@testable import TransferEngine

/// What Documentation/Transfers.md says of representations.
@Suite struct ResponseJudgeTests {
  private let known = Representation(
    total: 1_000_000, entityTag: "\"a\"", lastModified: "Mon, 01 Jan 2024 00:00:00 GMT",
    finalURL: "http://cdn.example.org/a.mp3?token=1")

  private func question(
    from start: Int64 = 500_000, known: Representation?, stored: ByteRanges = ByteRanges([0..<500_000]),
    isBeside: Bool = false
  ) -> ResponseJudge.Question {
    ResponseJudge.Question(
      isWhole: start == 0, known: known, stored: stored, isBeside: isBeside)
  }

  private func head(
    _ status: Int, _ fields: [String: String], url: String = "http://cdn.example.org/a.mp3?token=2"
  ) -> ResponseHead {
    var head = ResponseHead(status: status, url: url)
    head.length = fields["content-length"].flatMap { Int64($0) }
    if let numbers = fields["content-range"]?.split(whereSeparator: { " -/".contains($0) }).map({ Int64($0) })
    {
      head.partTotal = numbers.last ?? nil
      if numbers.count == 4, let first = numbers[1], let last = numbers[2] { head.part = first..<last + 1 }
    }
    head.entityTag = fields["etag"].flatMap { $0.hasPrefix("W/") ? nil : $0 }
    head.lastModified = fields["last-modified"]
    return head
  }

  private func judge(
    _ question: ResponseJudge.Question, _ head: ResponseHead
  ) -> ResponseJudge.Verdict { ResponseJudge.judge(question, head, firstBytes: Array("ID3".utf8)) }

  /// The first of two writes fails and the second succeeds: another file of that size must not follow on its bytes.
  @Test func aWriteBehindAFailedOneKeepsOtherFilesAway() {
    var files = OpenFiles(StoreID(1), .open, generation: 1, known)
    for start in [Int64(0), 1 << 19] { files.claim(start..<start + 1 << 19) }
    files.answered(.failed(Fault(.lasting, "I/O error"), present: ByteRanges()))
    files.setPresent(ByteRanges())
    let other = head(200, ["content-length": "1000000", "etag": "\"b\"", "last-modified": "Tue"])
    func verdict() -> ResponseJudge.Verdict {
      var question = question(from: 0, known: known, stored: files.claimed)
      question.isWriting = files.pending > 1
      return judge(question, other)
    }
    func begins(_ verdict: ResponseJudge.Verdict) -> Bool { if case .begin = verdict { true } else { false } }
    #expect(begins(verdict()), "the second is on its way")
    files.answered(.wrote(FlowID(1), 1 << 19..<1 << 20))
    files.wrote(1 << 19..<1 << 20)
    #expect(begins(verdict()), "the second has come")
  }

  @Test func whatIsNoEpisodeMayHaveAnyTypeButIsNoText() {
    for type in ["text/html", "application/xml", "application/json"] {
      for isEpisode in [false, true] {
        var question = question(from: 0, known: nil, stored: ByteRanges())
        question.isEpisode = isEpisode
        var head = head(200, ["content-length": "1000"])
        head.mediaType = type
        let archive: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]
        let verdict = ResponseJudge.judge(question, head, firstBytes: archive)
        let isTaken = if case .begin = verdict { true } else { false }
        #expect(isTaken != isEpisode, "\(type)")
        let page = ResponseJudge.judge(question, head, firstBytes: Array("<html>log in".utf8))
        let wanted = isEpisode ? "audio" : "the file"
        let words = if case .fault(let fault) = page { fault.message } else { "" }
        #expect(words == "cdn.example.org sent a web page instead of \(wanted)")
      }
    }
  }

  private func isGo(_ verdict: ResponseJudge.Verdict, at: Int64, agreeing: Int64) -> Bool {
    if case .go(_, at, agreeing) = verdict { return true }
    return false
  }

  @Test func aPartWithTheSameValidatorAndTotalGoesOn() {
    let part = head(206, ["content-range": "bytes 500000-999999/1000000", "etag": "\"a\""])
    #expect(isGo(judge(question(known: known), part), at: 500_000, agreeing: 0))
  }

  /// A hole in what came without a length, whose size its end has told.
  @Test func theWholeOfTheSameTagGoesOnAlsoWithoutALength() {
    let stored = ByteRanges([0..<300_000, 400_000..<1_000_000])
    let question = question(from: 300_000, known: known, stored: stored)
    let date = "Mon, 01 Jan 2024 00:00:00 GMT"
    let same = head(200, ["etag": "\"a\"", "last-modified": date])
    #expect(isGo(judge(question, same), at: 0, agreeing: 0))
    guard
      case .begin(let other, at: 0) = judge(question, head(200, ["etag": "\"b\"", "last-modified": date]))
    else {
      Issue.record("another file must begin anew")
      return
    }
    #expect(other.total == nil)
  }

  @Test func lastModifiedIsTheValidatorWhereThereIsNoStrongTag() {
    var dated = known
    dated.entityTag = nil
    let same = head(
      206,
      [
        "content-range": "bytes 500000-999999/1000000", "etag": "W/\"x\"",
        "last-modified": "Mon, 01 Jan 2024 00:00:00 GMT",
      ])
    #expect(isGo(judge(question(known: dated), same), at: 500_000, agreeing: 0))
  }

  @Test func anotherTagAndDateOrAnotherTotalIsAnotherRepresentation() {
    let total = head(206, ["content-range": "bytes 500000-999999/1000001", "etag": "\"a\""])
    let date = head(
      206,
      [
        "content-range": "bytes 500000-999999/1000000", "etag": "\"b\"",
        "last-modified": "Tue, 02 Jan 2024 00:00:00 GMT",
      ])
    for other in [date, total] {
      #expect(judge(question(known: known), other) == .beginAnew)
      // Beside a running response it only means that there is no seek.
      #expect(judge(question(known: known, isBeside: true), other) == .notBeside)
    }
  }

  /// Mirrors behind one name: of one size and date, with entity tags of their own.
  @Test func anotherTagAloneMayBeAMirrorsWhereBytesAgree() {
    let date = ["last-modified": "Mon, 01 Jan 2024 00:00:00 GMT", "etag": "\"b\""]
    let whole = head(200, date.merging(["content-length": "1000000"]) { $1 })
    #expect(isGo(judge(question(known: known), whole), at: 0, agreeing: 65_536))
    #expect(isGo(judge(question(known: known, isBeside: true), whole), at: 0, agreeing: 65_536))
    let part = head(206, date.merging(["content-range": "bytes 500000-999999/1000000"]) { $1 })
    #expect(judge(question(known: known), part) == .askWithOverlap)
    #expect(judge(question(known: known, isBeside: true), part) == .notBeside)
    let overlapping = head(206, date.merging(["content-range": "bytes 434464-999999/1000000"]) { $1 })
    guard case .go(let shown, 434_464, 65_536) = judge(question(from: 434_464, known: known), overlapping)
    else {
      Issue.record("\(judge(question(from: 434_464, known: known), overlapping))")
      return
    }
    // From then on the date alone tells one file from another.
    #expect(shown.entityTag == nil && shown.lastModified == known.lastModified)
    #expect(isGo(judge(question(known: shown), part), at: 500_000, agreeing: 0))
  }

  @Test func theWholeOfAnotherFileBesideAResponseTellsNothingOfRanges() {
    let beside = question(known: known, isBeside: true)
    #expect(judge(beside, head(200, ["content-length": "900000", "etag": "\"b\""])) == .notBeside)
    #expect(judge(beside, head(200, ["content-length": "1000000", "etag": "\"a\""])) == .noRanges)
  }

  @Test func whereNothingIsStoredWhatHasTheSizeTakesItsPlace() {
    func whole(stored: ByteRanges = ByteRanges(), isBeside: Bool = false) -> ResponseJudge.Question {
      question(from: 0, known: known, stored: stored, isBeside: isBeside)
    }
    let same = head(200, ["content-length": "1000000", "etag": "\"a\""])
    let other = head(200, ["content-length": "1000000", "etag": "\"b\""])
    let longer = head(200, ["content-length": "1000001", "etag": "\"b\""])
    #expect(isGo(judge(whole(), same), at: 0, agreeing: 0))
    #expect(isGo(judge(whole(isBeside: true), same), at: 0, agreeing: 0))
    #expect(isGo(judge(whole(), other), at: 0, agreeing: 0))
    for (question, answer) in [
      (whole(), longer), (whole(isBeside: true), other),
    ] {
      guard case .begin(_, 0) = judge(question, answer) else {
        Issue.record("\(judge(question, answer))")
        continue
      }
    }
  }

  @Test func withoutAValidatorAnOverlapMustAgree() {
    var bare = known
    (bare.entityTag, bare.lastModified) = (nil, nil)
    let overlapping = head(206, ["content-range": "bytes 434464-999999/1000000"])
    #expect(isGo(judge(question(from: 434_464, known: bare), overlapping), at: 434_464, agreeing: 65_536))
    let short = head(206, ["content-range": "bytes 499999-999999/1000000"])
    #expect(judge(question(known: bare), short) == .askWithOverlap)
    #expect(judge(question(known: bare, isBeside: true), short) == .notBeside)
  }

  @Test func aFinalAddressThatChangedByMoreThanItsQueryNeedsAnOverlap() {
    let moved = head(
      206, ["content-range": "bytes 500000-999999/1000000", "etag": "\"a\""],
      url: "http://other.example.org/a.mp3")
    #expect(judge(question(known: known), moved) == .askWithOverlap)
    let overlapping = head(
      206, ["content-range": "bytes 434464-999999/1000000", "etag": "\"a\""],
      url: "http://other.example.org/a.mp3")
    #expect(isGo(judge(question(from: 434_464, known: known), overlapping), at: 434_464, agreeing: 65_536))
  }

  @Test func aValidatorThatIsNotRepeatedIsNone() {
    let silent = head(206, ["content-range": "bytes 500000-999999/1000000"])
    #expect(judge(question(known: known), silent) == .askWithOverlap)
  }

  @Test func theWholeGoesOnWhereItIsProvablyTheSame() {
    let same = head(200, ["content-length": "1000000", "etag": "\"a\""])
    #expect(isGo(judge(question(known: known), same), at: 0, agreeing: 0))
    var bare = known
    (bare.entityTag, bare.lastModified) = (nil, nil)
    let unknown = head(200, ["content-length": "1000000"])
    #expect(isGo(judge(question(known: bare), unknown), at: 0, agreeing: 500_000))
    // With islands, what comes between them could not be told in time.
    let islands = question(known: bare, stored: ByteRanges([0..<100, 500..<600]))
    guard case .begin(_, at: 0) = judge(islands, unknown) else {
      Issue.record("islands were joined by bytes of another answer")
      return
    }
  }

  @Test func theWholeOfAnotherFileBeginsAGeneration() {
    for fields in [
      ["content-length": "1000001", "etag": "\"b\""], ["content-length": "1000001"],
      ["content-length": "1000000", "last-modified": "Tue, 02 Jan 2024 00:00:00 GMT"],
    ] {
      var dated = known
      if fields["etag"] == nil { dated.entityTag = nil }
      guard case .begin(let new, at: 0) = judge(question(known: dated), head(200, fields)) else {
        Issue.record("\(fields) did not begin a generation")
        continue
      }
      #expect(new.entityTag == fields["etag"])
    }
  }

  @Test func aRangeThatCanNotBeSatisfiedIsAskedForWhole() {
    #expect(judge(question(known: known), head(416, ["content-range": "bytes */1000000"])) == .noRanges)
    // Where nothing is known, the feed or an older file has promised more.
    let end = head(416, ["content-range": "bytes */20001"])
    #expect(judge(question(known: nil), end) == .told(total: 20_001))
    for total in ["*", "0"] {
      #expect(judge(question(known: nil), head(416, ["content-range": "bytes */\(total)"])) == .noRanges)
    }
    var endless = known
    endless.total = nil
    let whole = question(known: endless, stored: ByteRanges([0..<500_000]))
    #expect(judge(whole, head(416, ["content-range": "bytes */500000"])) == .complete)
  }

  /// Who has it open knows the length that was told first: of a generation that never becomes another one.
  @Test func anEndBeforeTheLengthThatWasToldIsNoEnd() {
    let told = head(416, ["content-range": "bytes */500000", "etag": "\"a\""])
    #expect(judge(question(known: known, stored: ByteRanges([0..<500_000])), told) == .noRanges)
    var unmarked = known
    (unmarked.entityTag, unmarked.lastModified) = (nil, nil)
    #expect(judge(question(known: unmarked, stored: ByteRanges([0..<500_000])), told) == .noRanges)
  }

  @Test func aPartThatDoesNotSayWhichIsAskedForWhole() {
    #expect(judge(question(known: known), head(206, [:])) == .noRanges)
    guard case .fault(let fault) = judge(question(from: 0, known: nil), head(206, [:])) else {
      Issue.record("it was taken")
      return
    }
    #expect(fault.kind == .passing)
  }

  @Test func aNetworkThatWantsALoginFirstIsTriedAgain() {
    guard case .fault(let fault) = judge(question(known: known), head(511, [:])) else {
      Issue.record("it was taken")
      return
    }
    #expect(fault.kind == .passing)
  }

  /// Of a file that has become shorter a server says where that ends.
  @Test(arguments: [0, 1, 499_999, 500_001]) func anEndElsewhereIsNotTheEndOfWhatIsStored(total: Int64) {
    let open = Representation(entityTag: "\"a\"", finalURL: "http://cdn.example.org/a.mp3")
    let told = head(416, ["content-range": "bytes */\(total)"])
    #expect(judge(question(known: open), told) == .noRanges)
  }

  @Test(arguments: ["1000000", "499999", "500001"]) func aPartOfAnotherLengthThanItSaysIsOfNoUse(
    length: String
  ) {
    let fields = [
      "content-range": "bytes 500000-999999/1000000", "etag": "\"a\"", "content-length": length,
    ]
    #expect(judge(question(known: known), head(206, fields)) == .noRanges)
  }

  @Test func severalPartsAreNotOne() {
    var parts = head(206, ["content-range": "bytes 500000-999999/1000000", "etag": "\"a\""])
    parts.mediaType = "multipart/byteranges"
    #expect(judge(question(known: known), parts) == .noRanges)
  }
}
