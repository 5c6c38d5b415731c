internal import PodcastModel

/// Whether a response's bytes may go into what is stored (Documentation/Transfers.md). Pure rules.
enum ResponseJudge {
  /// Bytes that must agree where nothing else tells two representations apart.
  static let overlap: Int64 = 64 << 10

  struct Question {
    /// Whether the whole was asked for, without Range.
    var isWhole: Bool
    /// The representation that the stored bytes are of; nil where there are none.
    var known: Representation?
    var stored: ByteRanges
    /// Whether another response is feeding the same generation: it goes on, whatever this one brings.
    var isBeside: Bool
    /// Whether bytes are on their way to the disk. After a write that failed, later ones may still come to the file.
    var isWriting = false
    /// Whether it is to be audio or video. Else any type will do, and only a text is refused.
    var isEpisode = true
  }

  enum Verdict: Hashable {
    /// A new generation, of which this response gives the bytes from `at` on.
    case begin(Representation, at: Int64)
    /// Goes on with what is stored, from byte `at` on. Nothing may be written before `agreeing` bytes have
    /// been the same as stored ones, and each stored byte that comes again must be the same.
    case go(Representation, at: Int64, agreeing: Int64)
    /// Another representation from its middle: ask anew for the whole, for a new generation.
    case beginAnew
    /// Can't be told apart from another representation: ask again with an overlap.
    case askWithOverlap
    /// Of no use beside the response under way, which is waited for before it is asked again.
    case notBeside
    /// The server sends no ranges that can be trusted. The whole file is asked for, and readers wait for their place.
    case noRanges
    case complete
    /// The file has so many bytes, by the host's word; nothing of it is stored.
    case told(total: Int64)
    case fault(Fault)
  }

  static func judge(_ question: Question, _ head: ResponseHead, firstBytes: [UInt8]) -> Verdict {
    let places = [head.length, head.partTotal, head.part?.upperBound]
    if (200...206).contains(head.status), places.contains(where: { $0 ?? 0 > Limits.largestFile }) {
      return .fault(Fault(.lasting, "the file at \(head.host) is too large"))
    }
    let isPart = head.status == 206
    if head.isWhole || isPart && question.isEpisode,
      let intruder = ContentKind.intruder(question.isEpisode ? head.mediaType : nil, firstBytes)
    {
      let wanted = question.isEpisode ? "audio" : "the file"
      return .fault(Fault(.doubtful, "\(head.host) sent \(intruder) instead of \(wanted)"))
    }
    if isPart { return isCompressed(head, nil) ? .noRanges : judgePart(question, head) }
    if head.status == 416 { return judgeUnsatisfiable(question, head) }
    guard head.isWhole else { return .fault(Fault(head)) }
    if isCompressed(head, firstBytes) {
      return .fault(Fault(.lasting, "\(head.host) compresses the file though nobody asked for that"))
    }
    if firstBytes.isEmpty || head.length == 0 {
      // Where something has come before it was an accident.
      let kind: Fault.Kind = question.stored.isEmpty ? .doubtful : .passing
      return .fault(Fault(kind, "\(head.host) sent an empty file"))
    }
    return judgeWhole(question, head)
  }

  private static func judgeWhole(_ question: Question, _ head: ResponseHead) -> Verdict {
    let told = representation(of: head, total: head.length)
    guard let known = question.known else { return .begin(told, at: 0) }
    // Who gave no length the first time gives none when a hole is to be filled.
    let new = told.completed(by: known)
    // Mirrors behind one name have entity tags of their own: bytes that agree tell whether the file is the same.
    if isMirror(known, new), let length = question.stored.run(at: 0)?.length {
      let isEnough = length >= overlap || !question.isBeside && question.stored.ranges.count == 1
      let same = merged(known, new)
      // Without a date nothing could be asked for by what this shows.
      let isOfUse = !question.isBeside || same.validator != nil
      if isEnough && isOfUse { return .go(same, at: 0, agreeing: min(length, overlap)) }
    }
    // Another file is given as a whole (If-Range): that tells nothing of ranges.
    if question.isBeside && !question.isWhole { return differ(known, new) ? .notBeside : .noRanges }
    if known.entityTag != nil && known.entityTag == new.entityTag && known.total == new.total {
      return .go(merged(known, new), at: 0, agreeing: 0)
    }
    if question.stored.isEmpty && !question.isWriting {
      // Nobody has got a byte of it: what has its size may take its place, unless another response feeds it.
      let isFree = !question.isBeside || !differ(known, new)
      let isSize = known.total == nil || known.total == new.total
      return isFree && isSize ? .go(new, at: 0, agreeing: 0) : .begin(new, at: 0)
    }
    let isOther = known.total != nil && new.total != nil && known.total != new.total
    // Nothing proves it the same: what is stored decides, where it is one piece from the start.
    let isPiece = question.stored.ranges.count == 1 && question.stored.contains(0)
    if isOther || differ(known, new) || !isPiece { return .begin(new, at: 0) }
    return .go(merged(known, new), at: 0, agreeing: question.stored.end)
  }

  private static func judgePart(_ question: Question, _ head: ResponseHead) -> Verdict {
    // A part that does not say which, or in a way that can't be: the whole has no such words.
    guard let range = head.part else {
      return question.isWhole
        ? .fault(Fault(.passing, "\(head.host) sent a part of the file without saying which part"))
        : .noRanges
    }
    // A body of another length is not, or not only, what its head says that it is; nor are several parts one.
    let isOtherLength = head.length.map { $0 != range.upperBound - range.lowerBound } ?? false
    if !question.isWhole && (isOtherLength || head.mediaType == "multipart/byteranges") { return .noRanges }
    let new = representation(of: head, total: head.partTotal)
    guard let known = question.known else { return .begin(new, at: range.lowerBound) }
    let isOther = known.total != nil && new.total != nil && known.total != new.total
    let isMirror = isMirror(known, new)
    if isOther || differ(known, new) && !isMirror { return question.isBeside ? .notBeside : .beginAnew }
    let isTotalSame = known.total == nil || new.total != nil
    let hasValidator =
      (known.entityTag != nil && known.entityTag == new.entityTag)
      || (known.entityTag == nil && known.lastModified != nil && known.lastModified == new.lastModified)
    if hasValidator && isTotalSame && isSameAddress(known.finalURL, new.finalURL) {
      // "206 from another start": its place is certain all the same, and what is missing is asked for later.
      return .go(merged(known, new), at: range.lowerBound, agreeing: 0)
    }
    let stored = question.stored.run(at: range.lowerBound)?.clamped(to: range)
    if stored?.length ?? 0 >= overlap {
      return .go(merged(known, new), at: range.lowerBound, agreeing: overlap)
    }
    return question.isBeside ? .notBeside : .askWithOverlap
  }

  /// 416: nothing behind the last byte that there is.
  private static func judgeUnsatisfiable(_ question: Question, _ head: ResponseHead) -> Verdict {
    if question.isWhole { return .fault(Fault(head)) }
    // What the feed says was too long.
    if question.known == nil, let total = head.partTotal, total > 0 { return .told(total: total) }
    // A generation that has told its length never gets another one: who has it open would read what is not there.
    let isEnd = question.known.map { $0.total == nil } ?? false
    if isEnd, let total = head.partTotal, question.stored.ranges == [0..<total] { return .complete }
    // Refused ranges, a shorter file, or a wrong length: the answer with the whole file shows which.
    return .noRanges
  }

  static func representation(of head: ResponseHead, total: Int64?) -> Representation {
    Representation(
      total: total, entityTag: head.entityTag, lastModified: head.lastModified, finalURL: head.url)
  }

  /// Whether the body has a coding. Some servers say so of bytes that have none.
  /// - Parameter firstBytes: of the body as it came; nil where they are not at hand.
  private static func isCompressed(_ head: ResponseHead, _ firstBytes: [UInt8]?) -> Bool {
    switch head.encoding {
    case "gzip", "x-gzip": firstBytes?.starts(with: [0x1f, 0x8b]) ?? true
    case "deflate", "br", "zstd": true
    default: false
    }
  }

  /// Whether both have the same kind of validator, and not the same value.
  private static func differ(_ a: Representation, _ b: Representation) -> Bool {
    if let mine = a.entityTag, let its = b.entityTag { return mine != its }
    if let mine = a.lastModified, let its = b.lastModified { return mine != its }
    return false
  }

  /// Whether both may be one file on two mirrors: of one size, not of two dates, with entity tags of their own.
  private static func isMirror(_ a: Representation, _ b: Representation) -> Bool {
    guard let total = a.total, total == b.total, a.entityTag != nil, b.entityTag != nil,
      a.entityTag != b.entityTag
    else { return false }
    return a.lastModified == nil || b.lastModified == nil || a.lastModified == b.lastModified
  }

  /// `known` with what `new` adds. Entity tags of mirrors say nothing of the file.
  private static func merged(_ known: Representation, _ new: Representation) -> Representation {
    let isTag = new.entityTag == nil || new.entityTag == known.entityTag
    return Representation(
      total: known.total ?? new.total,
      entityTag: isTag ? known.entityTag : known.validator == nil ? new.entityTag : nil,
      lastModified: known.lastModified ?? new.lastModified, finalURL: new.finalURL)
  }

  /// Whether two final addresses differ by no more than their queries.
  static func isSameAddress(_ a: String, _ b: String) -> Bool {
    func base(_ url: String) -> Substring { url.prefix { $0 != "?" && $0 != "#" } }
    return base(a) == base(b)
  }
}
