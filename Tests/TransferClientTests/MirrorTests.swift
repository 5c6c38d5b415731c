import Configuration
import HTTPServerKit
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol

/// Mirrors behind one name: the same bytes, length and date, with entity tags of their own.
@Suite struct MirrorTests {
  let user: TransferFixture
  let body = TestBody(seed: 41, size: 3_000_000)
  private static let date = "Mon, 01 Jan 2024 00:00:00 GMT"

  init() throws { user = try TransferFixture() }

  /// - Parameters:
  ///   - cut: bytes of the first answer before its connection ends; nil for all.
  ///   - other: what the second mirror has, where that is another file.
  private func serve(
    cut: Int64?, rate: Int64? = nil, ranges: Bool = true, date: String? = date, other: TestBody? = nil
  ) -> TransferRequest {
    let body = body
    let count = Monitor(0)
    let url = user.origin.handle("/a.mp3") { request, writer throws(ResponseWriter.Ended) in
      let number = count.withLock { count in
        count += 1
        return count
      }
      // Each mirror answers every other request.
      let tag = "\"mirror-\(number % 2)\""
      let file = number > 1 ? other ?? body : body
      var fields = [("Content-Type", "audio/mpeg"), ("ETag", tag)]
      if let date { fields.append(("Last-Modified", date)) }
      if ranges { fields.append(("Accept-Ranges", "bytes")) }
      let condition = request.header("if-range")
      let isSame = condition == nil || condition == tag || condition == date
      var part = 0..<body.size
      if ranges, isSame, let words = request.header("range")?.dropFirst(6).split(separator: "-"),
        let first = words.first.flatMap({ Int64($0) })
      {
        part = first..<(words.count > 1 ? (Int64(words[1]) ?? body.size - 1) + 1 : body.size)
        fields.append(("Content-Range", "bytes \(first)-\(part.upperBound - 1)/\(body.size)"))
        try writer.begin(206, fields, length: part.upperBound - first)
      } else {
        try writer.begin(200, fields, length: body.size)
      }
      writer.rate = rate
      if number == 1, let cut {
        try writer.write(file.bytes(part.lowerBound..<cut))
        throw writer.cut()
      }
      try writer.write(file.bytes(part))
    }
    return TransferFixture.request(url)
  }

  @Test(arguments: [date, nil]) func whatBreaksOffGoesOnAtTheOther(_ date: String?) throws {
    let request = serve(cut: 1_500_000, date: date)
    let client = try user.client()
    let episode = try client.opened(request)
    #expect(body.firstDifference(try episode.readAll()) == nil)
    #expect(client.reaches(.cached, request))
    #expect(client.status(of: request.key)?.generation == episode.generation)
    #expect(user.origin.requests("/a.mp3").count <= 3)
  }

  @Test func aWholeThatAgreesGoesOnWhereThereAreNoRanges() throws {
    let request = serve(cut: 1_500_000, ranges: false)
    let client = try user.client()
    let episode = try client.opened(request)
    #expect(body.firstDifference(try episode.readAll()) == nil)
    #expect(client.reaches(.cached, request))
    #expect(client.status(of: request.key)?.generation == episode.generation)
  }

  @Test func aSeekGoesToTheOther() throws {
    let request = serve(cut: nil, rate: 200_000)
    let client = try user.client()
    let episode = try client.opened(request)
    _ = try episode.read(at: 0, 200_000)
    #expect(body.firstDifference(try episode.read(at: 2_900_000, 50_000), at: 2_900_000) == nil)
    // It has not waited for what lies before.
    #expect(client.status(of: request.key)?.received ?? .max < 2_500_000)
    #expect(client.status(of: request.key)?.generation == episode.generation)
  }

  /// Of the same length and date, with other bytes.
  @Test func anotherFileIsNotTakenForAMirror() throws {
    let other = TestBody(seed: 42, size: body.size)
    let request = serve(cut: 1_500_000, other: other)
    let client = try user.client()
    let first = try client.opened(request)
    #expect(body.firstDifference(try first.read(at: 0, 1_000_000)) == nil)
    #expect(first.readFailure(at: 2_900_000)?.errno == .ESTALE)
    let whole = try client.opened(request).readAll()
    #expect(body.firstDifference(whole) == nil || other.firstDifference(whole) == nil)
  }
}
