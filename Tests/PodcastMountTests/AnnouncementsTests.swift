import PodcastMount
import PodcastTree
import Testing

/// What those who watch are told of a name, whatever has happened to it since they last heard of it.
@Suite struct AnnouncementsTests {
  private var announcements = Announcements()

  private mutating func note(_ name: String, _ events: Difference.Event...) {
    for event in events {
      announcements.note([Self.name(name, event)])
    }
  }

  private static func name(_ name: String, _ event: Difference.Event, in directory: NodeID = .latest)
    -> Difference.Name
  {
    Difference.Name(
      name: name, directory: directory, event: event, isDirectory: false, node: NodeID(.episode, 1))
  }

  /// Whether this is all that is told now, in this order.
  private mutating func expect(told expected: [String], _ place: SourceLocation = #_sourceLocation) {
    var told: [String] = []
    announcements.drop(except: [.latest], foundBy: announcements.look)
    for key in announcements.begin(.latest) {
      told += announcements.take(key).map { "\($0.event) \($0.name)" }
    }
    _ = announcements.finish(.latest)
    #expect(told == expected, sourceLocation: place)
  }

  @Test mutating func whatHasComeAndGoneIsToldAsBoth() {
    note("A", .appeared, .vanished)
    note("B", .appeared, .replaced, .vanished, .replaced)
    expect(told: ["appeared A", "vanished A", "appeared B", "vanished B"])
  }

  @Test mutating func whatHasComeGoneAndComeAgainHasCome() {
    note("A", .appeared, .vanished, .appeared)
    note("B", .appeared)
    note("A", .replaced)
    expect(told: ["appeared A", "appeared B"])
  }

  @Test mutating func whatHasGoneAndComeAgainIsToldAsBoth() {
    note("A", .vanished, .replaced, .appeared)
    note("B", .replaced, .vanished)
    note("C", .vanished, .appeared, .vanished)
    note("D", .appeared, .vanished, .appeared, .vanished)
    expect(
      told: ["vanished A", "appeared A", "vanished B", "vanished C", "appeared D", "vanished D"])
  }

  /// Taking it away would end it for who is in it.
  @Test mutating func aDirectoryThatHasGoneAndComeAgainHasChanged() {
    for event in [Difference.Event.vanished, .appeared, .replaced] {
      var name = Self.name("A", event)
      name.isDirectory = true
      announcements.note([name])
    }
    expect(told: ["replaced A"])
  }

  /// A podcast that is followed again is another directory: who is in the old one has lost that.
  @Test mutating func aDirectoryThatHasGoneAndAnotherInItsPlaceAreToldAsBoth() {
    noteEndOfFolder(with: 1)
    var other = Self.name("X", .appeared, in: .subscriptions)
    (other.isDirectory, other.node) = (true, NodeID(.subscription, 8))
    announcements.note([other])
    announcements.drop(except: [.subscriptions, Self.folder], foundBy: announcements.look)
    #expect(announcements.begin(.subscriptions).isEmpty)
    _ = announcements.finish(.subscriptions)
    #expect(announcements.begin(Self.folder).flatMap { announcements.take($0) }.map(\.name) == ["0"])
    #expect(announcements.finish(Self.folder) == .subscriptions)
    let told = announcements.begin(.subscriptions).flatMap { announcements.take($0) }
    #expect(told.map(\.event) == [.vanished, .appeared])
    #expect(told.map(\.node) == [Self.folder, other.node] && announcements.count == 0)
  }

  /// Of the same one the kernel has told the end itself.
  @Test(arguments: [7, 8])
  mutating func aDirectoryThatComesAgainWhileTheKernelTakesItAwayIsToldOf(_ row: Int64) {
    announcements.begins("X", in: .subscriptions)
    noteEndOfFolder(with: 0)
    var again = Self.name("X", .appeared, in: .subscriptions)
    (again.isDirectory, again.node) = (true, NodeID(.subscription, row))
    announcements.note([again])
    let isLeft = announcements.ends("X", in: .subscriptions, told: .vanished)
    #expect(isLeft && announcements.place(ofEnded: Self.folder) == nil)
    let told = announcements.begin(.subscriptions).flatMap { announcements.take($0) }
    #expect(told.map(\.event) == [.appeared])
  }

  @Test mutating func whatComesWhileTheKernelTakesItAwayIsToldAfterwards() {
    announcements.begins("A", in: .latest)
    note("A", .vanished, .appeared)
    let isLeft = announcements.ends("A", in: .latest, told: .vanished)
    #expect(isLeft)
    expect(told: ["appeared A"])
  }

  @Test mutating func eachNameIsToldOnce() {
    note("A", .appeared, .vanished, .appeared, .vanished, .appeared)
    #expect(announcements.begin(.latest).count == 1)
    expect(told: ["appeared A"])
    expect(told: [])
  }

  /// But what the kernel is at may be watched by the time it has ended.
  @Test mutating func whatNobodyWatchesIsForgotten() {
    announcements.begins("B", in: .latest)
    note("A", .appeared)
    note("B", .vanished)
    #expect(announcements.look.directories == [.latest])
    announcements.drop(except: [], foundBy: announcements.look)
    #expect(announcements.count == 2)
    let isLeft = announcements.ends("B", in: .latest, told: nil)
    #expect(isLeft)
    expect(told: ["vanished B"])
  }

  /// Somebody may have begun to watch before it changed, and after the look had passed them.
  @Test mutating func whatChangesDuringALookIsLeftToTheNext() {
    for count in [1, 1000] {
      note("A", .appeared)
      note("B", .appeared)
      let look = announcements.look
      announcements.note((0..<count).map { Self.name("\($0)", .appeared) })
      note("B", .vanished)
      announcements.drop(except: [], foundBy: look)
      expect(told: ["appeared B", "vanished B"] + (0..<count).map { "appeared \($0)" })
    }
  }

  @Test mutating func whatChangesDuringALookIsToldWhereItFoundWatchers() {
    note("A", .appeared)
    let look = announcements.look
    note("B", .appeared)
    announcements.note([Self.name("C", .appeared, in: .downloaded)])
    announcements.drop(except: [.latest], foundBy: look)
    let told = announcements.begin(.latest).flatMap { announcements.take($0) }
    #expect(told.map(\.name) == ["A", "B"])
    #expect(announcements.look.directories == [.downloaded])
  }

  @Test mutating func whatComesInGreatNumbersIsToldInItsPlace() {
    let names = (0..<10_000).map { "\($0)" }
    note("first", .appeared)
    announcements.note(names.map { Self.name($0, .appeared) })
    announcements.note(names.map { Self.name($0, .appeared, in: .downloaded) })
    note("9999", .vanished)
    announcements.begins("5", in: .latest)
    #expect(announcements.count > 20_000 && announcements.look.directories == [.latest, .downloaded])
    var expected = ["appeared first"] + names.filter { $0 != "5" }.map { "appeared \($0)" }
    expected.append("vanished 9999")
    expect(told: expected)
    let isLeft = announcements.ends("5", in: .latest, told: .appeared)
    #expect(!isLeft && announcements.count == 0)
  }

  @Test mutating func whatComesInGreatNumbersAndIsNotWatchedIsForgotten() {
    announcements.begins("5", in: .downloaded)
    announcements.note((0..<10_000).map { Self.name("\($0)", .appeared, in: .downloaded) })
    expect(told: [])
    #expect(announcements.count == 2)
    let isLeft = announcements.ends("5", in: .downloaded, told: .appeared)
    #expect(!isLeft && announcements.count == 0)
  }

  @Test mutating func whatTheKernelHasToldIsNotToldAgain() {
    announcements.begins("A", in: .latest)
    note("A", .vanished)
    expect(told: [])
    let isLeft = announcements.ends("A", in: .latest, told: .vanished)
    #expect(!isLeft)
    expect(told: [])
  }

  @Test mutating func whatTheKernelCouldNotDoIsToldAfterwards() {
    announcements.begins("A", in: .latest)
    note("A", .vanished)
    let isLeft = announcements.ends("A", in: .latest, told: nil)
    #expect(isLeft)
    expect(told: ["vanished A"])
  }

  private static let folder = NodeID(.subscription, 7)

  private mutating func noteEndOfFolder(with count: Int) {
    var end = Self.name("X", .vanished, in: .subscriptions)
    (end.isDirectory, end.node) = (true, Self.folder)
    announcements.note([end] + (0..<count).map { Self.name("\($0)", .vanished, in: Self.folder) })
  }

  @Test(arguments: [1, 600]) mutating func aFolderEndsAfterWhatWasInIt(_ count: Int) {
    noteEndOfFolder(with: count)
    announcements.note([Self.name("other", .appeared, in: .subscriptions)])
    // Also where only the folder is watched.
    announcements.drop(except: [Self.folder], foundBy: announcements.look)
    announcements.note([Self.name("another", .appeared, in: .subscriptions)])
    #expect(announcements.begin(.subscriptions).flatMap { announcements.take($0) }.map(\.name) == ["another"])
    #expect(announcements.finish(.subscriptions) == nil)
    let place = announcements.place(ofEnded: Self.folder)
    #expect(place?.name == "X" && place?.parent == .subscriptions)
    let within = announcements.begin(Self.folder).flatMap { announcements.take($0) }
    #expect(within.map(\.name) == (0..<count).map { "\($0)" })
    // The last of them may still be under way.
    #expect(announcements.begin(.subscriptions).isEmpty)
    #expect(announcements.finish(Self.folder) == .subscriptions)
    #expect(announcements.begin(.subscriptions).flatMap { announcements.take($0) }.map(\.name) == ["X"])
    #expect(announcements.place(ofEnded: Self.folder) == nil && announcements.count == 0)
  }

  /// Who is in it stays there.
  @Test(arguments: [["A", "Z"], ["Z", "A"]])
  mutating func aFolderThatHasAnotherNameIsToldAsRenamed(_ names: [String]) {
    var (old, new) = (Self.name(names[0], .vanished), Self.name(names[1], .appeared))
    (old.isDirectory, old.node) = (true, Self.folder)
    (new.isDirectory, new.node) = (true, Self.folder)
    announcements.note([old, new].sorted { $0.name < $1.name })
    // What was in it does not come first: it goes on.
    announcements.note([Self.name("within", .appeared, in: Self.folder)])
    expect(told: ["moved(to: \"\(names[1])\") \(names[0])"])
    #expect(announcements.count == 1 || announcements.place(ofEnded: Self.folder) == nil)
  }

  /// Its own name is taken by another one meanwhile.
  @Test mutating func aFolderThatHasOnlyLeftANameIsNotToldAsRenamed() {
    for (name, event, row) in [("A", Difference.Event.vanished, 7), ("B", .appeared, 7), ("A", .appeared, 8)]
    {
      var name = Self.name(name, event)
      (name.isDirectory, name.node) = (true, NodeID(.subscription, Int64(row)))
      announcements.note([name])
    }
    expect(told: ["vanished A", "appeared A", "appeared B"])
  }

  @Test mutating func aFolderEndsAfterWhatTheKernelTakesAwayInIt() {
    noteEndOfFolder(with: 1)
    announcements.begins("0", in: Self.folder)
    #expect(announcements.begin(Self.folder).isEmpty && announcements.begin(.subscriptions).isEmpty)
    _ = (announcements.finish(Self.folder), announcements.finish(.subscriptions))
    let isLeft = announcements.ends("0", in: Self.folder, told: .vanished)
    #expect(isLeft)
    #expect(announcements.begin(.subscriptions).flatMap { announcements.take($0) }.map(\.name) == ["X"])
  }
}
