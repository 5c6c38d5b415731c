internal import Glibc
package import PodcastTree
package import PosixKit

/// What those who watch a directory know of it, kept for the process that serves the mount next: whatever ends this one,
/// that tells the difference to what is there by then (`Announcer.resume`).
///
/// A file in the runtime directory for each directory whose listing is in memory: the names that it had, and behind them
/// each that has come or gone since and was told, or concerned nobody. An entry is `+` or `-`, the number of the node that
/// the name leads to, `/`, the name, and NUL.
package final class ToldNames: Sendable {
  /// What a name leads to.
  package typealias Names = [String: NodeID]
  /// Calls what it is given with each name, and what that leads to; nil for one that is not there. Of one name the last
  /// counts.
  package typealias Listed = @Sendable (_ add: (_ name: String, _ node: NodeID?) -> Void) -> Void

  private struct State {
    /// The directory of the files; nil where no process follows on this one.
    var place: String?
    /// In bytes, of the files: what says what is there, and what is of names that have gone.
    var sizes: [NodeID: Size] = [:]
    /// Listings that are still to be written, with what was told since they were made.
    var unwritten: [NodeID: (number: UInt64, told: [UInt8])] = [:]
    var nextNumber: UInt64 = 1
    /// Left by the process before, and not yet compared with what is there.
    var inherited: Set<NodeID> = []
  }
  private struct Size {
    var living = 0
    var gone = 0
  }
  private let state = Monitor(State())
  private let queue: WorkQueue

  /// A file is written anew when more of it is of names that have gone than of others, by more than this, in bytes.
  private static let slack = 16_384

  /// - Parameter queue: writes listings.
  package init(_ queue: WorkQueue) { self.queue = queue }

  /// - Parameter inherits: whether what is there is of the process before.
  package func begin(in place: String, inherits: Bool) {
    if !inherits { Directories.removeTree(place) }
    guard (try? Directories.createPrivate(place)) != nil else { return }
    let found = ((try? Directories.names(in: place)) ?? []).compactMap { name in
      UInt64(name, radix: 16).map { NodeID(rawValue: $0) }
    }
    state.withLock { state in
      state.place = place
      state.inherited = Set(found)
      for directory in found { state.sizes[directory] = Size() }
    }
  }

  /// The mount has ended.
  package func end() {
    let place = state.withLock { state in
      let place = state.place
      state = State()
      return place
    }
    if let place { Directories.removeTree(place) }
  }

  /// Directories of which the process before has left what was told.
  package var inherited: Set<NodeID> { state.withLock { $0.inherited } }

  /// What those who watch a directory knew of it when the process before ended; nil where that has left nothing. From here on
  /// it is this process's.
  package func takeInherited(_ directory: NodeID) -> Names? {
    state.withLock { state in
      guard state.inherited.remove(directory) != nil else { return nil }
      return Self.read(directory, state)
    }
  }

  /// A directory's listing has been made.
  /// - Parameter names: what those who watch it know; asked for later, on a thread of ours.
  package func keep(_ directory: NodeID, _ names: @escaping Listed) {
    let number = state.withLock { state -> UInt64? in
      if state.place == nil || state.inherited.contains(directory) { return nil }
      defer { state.nextNumber += 1 }
      state.unwritten[directory] = (state.nextNumber, [])
      return state.nextNumber
    }
    guard let number else { return }
    queue.async { [self] in
      var text: [UInt8] = []
      names { name, node in
        if let node {
          Self.add("+", node, name, to: &text)
        } else {
          Self.add("-", directory, name, to: &text)
        }
      }
      state.withLock { state in
        guard let unwritten = state.unwritten[directory], unwritten.number == number else { return }
        state.unwritten[directory] = nil
        text += unwritten.told
        Self.write(text, directory, &state)
      }
    }
  }

  /// Nothing is kept of a directory any more.
  package func forget(_ directory: NodeID) { state.withLock { Self.forget(directory, &$0) } }

  /// Names have been told, or concern nobody.
  package func note(_ names: [Difference.Name]) {
    if names.isEmpty { return }
    state.withLock { state in
      if state.place == nil { return }
      for (directory, names) in Dictionary(grouping: names, by: \.directory) {
        if state.sizes[directory] == nil && state.unwritten[directory] == nil { continue }
        var text: [UInt8] = []
        text.reserveCapacity(names.count * 64)
        var growth = Size()
        for name in names { Self.add(name, to: &text, &growth) }
        Self.append(text, growth, to: directory, &state)
      }
      // Those who were in it have heard of its end.
      for name in names where name.isDirectory && name.event == .vanished { Self.forget(name.node, &state) }
    }
  }

  // MARK: Files

  private static func path(_ directory: NodeID, _ state: State) -> String? {
    state.place.map { "\($0)/\(String(directory.rawValue, radix: 16))" }
  }

  private static func forget(_ directory: NodeID, _ state: inout State) {
    state.inherited.remove(directory)
    state.unwritten[directory] = nil
    if state.sizes.removeValue(forKey: directory) != nil, let path = path(directory, state) { unlink(path) }
  }

  private static func write(_ text: [UInt8], _ directory: NodeID, _ state: inout State) {
    guard let path = path(directory, state) else { return }
    state.sizes[directory] = Size(living: text.count)
    if (try? Directories.replace(path, with: text, outlivesPower: false)) == nil { forget(directory, &state) }
  }

  private static func append(
    _ text: [UInt8], _ growth: Size, to directory: NodeID, _ state: inout State
  ) {
    if text.isEmpty { return }
    if state.unwritten[directory] != nil { return state.unwritten[directory]!.told += text }
    guard var size = state.sizes[directory], let path = path(directory, state) else { return }
    do throws(PosixError) {
      let file = try FileDescriptor(opening: path, O_WRONLY | O_APPEND)
      let result = text.withUnsafeBytes { bytes in
        Result { () throws(PosixError) in try file.append(bytes) }
      }
      try result.get()
    } catch {
      // What is known only in part is of no use.
      return forget(directory, &state)
    }
    size.living += growth.living
    size.gone += growth.gone
    state.sizes[directory] = size
    if size.gone > size.living + slack, let names = read(directory, state) {
      var text: [UInt8] = []
      for (name, node) in names { add("+", node, name, to: &text) }
      write(text, directory, &state)
    }
  }

  private static func add(_ name: Difference.Name, to text: inout [UInt8], _ growth: inout Size) {
    func appeared(_ other: String) {
      let before = text.count
      add("+", name.node, other, to: &text)
      growth.living += text.count - before
    }
    func vanished() {
      let before = text.count
      add("-", name.node, name.name, to: &text)
      // What has said that it is there is of no use either.
      growth.living -= text.count - before
      growth.gone += 2 * (text.count - before)
    }
    switch name.event {
    case .appeared: appeared(name.name)
    case .vanished: vanished()
    case .moved(let other):
      vanished()
      appeared(other)
    case .replaced, .uncertain: break
    }
  }

  /// Ten thousand at once, while somebody waits for the listing that they are of: no text is made for it.
  private static func add(_ sign: Unicode.Scalar, _ node: NodeID, _ name: String, to text: inout [UInt8]) {
    text.append(UInt8(ascii: sign))
    let number = node.rawValue
    for place in stride(from: (63 - (number | 1).leadingZeroBitCount) / 4 * 4, through: 0, by: -4) {
      let digit = UInt8(number >> place & 0xf)
      text.append(digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10))
    }
    text.append(UInt8(ascii: "/"))
    text += name.utf8
    text.append(0)
  }

  /// What is left of an entry that was being written counts for nothing.
  private static func read(_ directory: NodeID, _ state: State) -> Names? {
    guard let path = path(directory, state), let text = try? Directories.readRegular(path, limit: 64 << 20)
    else { return nil }
    var names: Names = [:]
    let entries = text.prefix((text.lastIndex(of: 0) ?? -1) + 1).split(separator: 0)
    for entry in entries {
      guard let slash = entry.firstIndex(of: UInt8(ascii: "/")),
        let number = UInt64(String(decoding: entry[..<slash].dropFirst(), as: UTF8.self), radix: 16)
      else { return nil }
      let name = String(decoding: entry[(slash + 1)...], as: UTF8.self)
      names[name] = entry.first == UInt8(ascii: "+") ? NodeID(rawValue: number) : nil
    }
    return names
  }
}
