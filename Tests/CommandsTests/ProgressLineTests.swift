import CLI
import PodcastModel
import PosixKit
import Testing
import TransferProtocol

@Suite struct ProgressLineTests {
  private func line(_ state: TransferState, _ received: Int64, of total: Int64?) -> TransferStatus {
    var status = TransferStatus(
      TransferRequest(key: MediaKey(address: ""), fileName: "2024-01-03 - A quiet harbour.mp3"), state)
    (status.received, status.total) = (received, total)
    return status
  }

  @Test func aBarShowsNameShareBytesRateAndTimeLeft() {
    var line = line(.downloading, 5 << 20, of: 20 << 20)
    line.rate = 1 << 20
    line.eta = 15
    #expect(
      line.bar(columns: 130)
        == "2024-01-03 - A quiet harbour                               [#######.......................] "
        + " 25.0%  20.0 MiB  1.00 MiB/s  0:15")
    // The bar is there on the usual terminal too.
    #expect(
      line.bar(columns: 79) == "2024-01-03 - A qu… harbour [##.........]  25.0%  20.0 MiB  1.00 MiB/s  0:15")
  }

  @Test func aNameIsThereHoweverNarrowTheTerminal() {
    var line = line(.downloading, 5 << 20, of: 20 << 20)
    line.rate = 1 << 20
    line.eta = 15
    #expect(line.bar(columns: 40) == "2024-01-03 - A …harbour  25.0%  0:15")
    #expect(line.bar(columns: 24).hasPrefix("2024-01-0"))
    // The podcast gives way first, then the title's middle.
    line.request.title = "A quiet harbour"
    line.request.show = "Harbour Lights"
    #expect(line.bar(columns: 130).hasPrefix("A quiet harbour – Harbour Lights  "))
    #expect(line.bar(columns: 79).hasPrefix("A quiet harbour – Harbour… ["))
    line.request.title = "A very long title of a very quiet harbour, part 2"
    #expect(line.bar(columns: 79).hasPrefix("A very long title…, part 2 ["), "\(line.bar(columns: 79))")
    #expect(line.text.hasSuffix("  Harbour Lights: 2024-01-03 - A quiet harbour.mp3"))
  }

  @Test func aFrameFitsTheTerminalAndTakesThePlaceOfTheOneBefore() {
    var display = LiveDisplay(.output)
    let long = String(repeating: "x", count: 100)
    for columns in [20, 40, 61, 80] {
      for count in [1, 5, 50] {
        let footer = "2 downloading (23.4 KiB/s, 0:33 left), 10 queued, 0 episodes downloaded (64.5 KiB)"
        let footerRows = ColumnText.wrapped(footer, columns - 1, hanging: 2).split(separator: "\n").count
        let frame = display.frame(columns, 24, footer: [footer]) { _ in
          (0..<count).map { .init(["\($0) " + long]) }
        }
        let rows = frame.split(separator: "\n").dropLast()
        #expect(rows.count == min(count + footerRows, 23) && rows.last?.contains("KiB)") == true)
        for row in rows.dropFirst() { #expect(ColumnText.width(String(row.dropLast(3))) <= columns) }
      }
    }
    // Nothing scrolls: the cursor goes up by as many rows as there are.
    #expect(display.frame(80, 24, footer: ["all"]) { _ in [.init(["a", "b"])] }.hasPrefix("\r\u{1b}[23A"))
    #expect(display.frame(80, 24, footer: ["all"]) { _ in [.init(["a", "b"])] }.hasPrefix("\r\u{1b}[3A"))
  }

  @Test func aLineIsAsWideAsTheTerminalOrLessAndNeverWider() {
    var line = line(.downloading, 5 << 20, of: 20 << 20)
    line.rate = 1 << 20
    line.eta = 15
    for columns in 1...200 {
      #expect(ColumnText.width(line.bar(columns: columns)) <= columns)
    }
    // A narrow one has no bar, but still how far it is.
    #expect(line.bar(columns: 60) == "2024-01-03 - …harbour  25.0%  20.0 MiB  1.00 MiB/s  0:15")
  }

  @Test func whatDoesNotFitIsCountedByEntries() {
    var display = LiveDisplay(.output)
    let frame = display.frame(80, 6, footer: ["all"]) { _ in (0..<9).map { .init(["\($0)", "why"]) } }
    let rows = frame.split(separator: "\n").dropLast().map { $0.drop { $0 == "\r" }.dropLast(3) }
    #expect(rows == ["0", "why", "… and 8 more", "all"], "\(rows)")
  }

  @Test func pipedLinesHaveColumnsWithoutBlanks() {
    var line = line(.downloading, 5 << 20, of: 20 << 20)
    (line.rate, line.eta, line.request.show) = (1 << 20, 15, "Lights")
    #expect(
      line.text
        == "downloading   25.0%    5.00MiB    20.0MiB    1.00MiB/s      0:15  "
        + "Lights: 2024-01-03 - A quiet harbour.mp3")
    #expect(
      self.line(.queued, 0, of: nil).text
        == "queued            -         0B          -            -         -  2024-01-03 - A quiet harbour.mp3"
    )
  }

  @Test func whatIsNotUnderWaySaysItsStateAndWhy() {
    var line = line(.failed, 1024, of: 2048)
    line.error = "connection refused by media.example"
    #expect(line.text.hasSuffix("  2024-01-03 - A quiet harbour.mp3 (connection refused by media.example)"))
    let lines = line.lines(columns: 100)
    #expect(lines.first?.hasSuffix("  50.0%  2.00 KiB  failed") == true)
    #expect(lines.first?.contains("[") == false)
    #expect(lines.dropFirst() == ["    connection refused by media.example"])
    #expect(line.lines(columns: 20).last == "    connection refu…")
  }

  @Test func whatIsStalledSaysSoInPlaceOfItsRate() {
    var line = line(.downloading, 1024, of: 2048)
    line.error = "stalled for 12 s"
    #expect(line.lines(columns: 79).count == 1)
    #expect(line.bar(columns: 79).hasSuffix("50.0%  2.00 KiB  stalled for 12 s"))
    #expect(line.bar(columns: 60).hasSuffix("50.0%  2.00 KiB  stalled for 12 s"), "\(line.bar(columns: 60))")
  }

  @Test func textOfStrangersMovesNoCursor() {
    var line = line(.queued, 0, of: nil)
    line.request.fileName = "a\u{1b}[2Jb\r\u{202e}c\n"
    #expect(line.text.hasSuffix("  a[2Jb c"))
    #expect(line.bar(columns: 80).unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 0x202e })
  }

  @Test func wideCharactersTakeTwoColumns() {
    #expect(ColumnText.width("港の灯") == 6)
    #expect(ColumnText.width("🎧") == 2)
    #expect(ColumnText.fitted("港の灯", 5) == "港の…")
    #expect(ColumnText.fitted("港の灯", 4) == "港… ")
    #expect(ColumnText.fitted("abc", 5) == "abc  ")
    #expect(ColumnText.fitted("abc", 0) == "")
  }
}
