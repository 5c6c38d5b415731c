/// The names of the elements that are open, the innermost last.
struct OpenElements {
  /// Deeper elements are left out; libxml2 itself refuses 256.
  static let depthLimit = 200

  private var names: [UInt8] = []
  private var starts: [Int] = []

  var count: Int { starts.count }
  var isEmpty: Bool { starts.isEmpty }
  var lastName: ArraySlice<UInt8> { name(at: starts.count - 1) }

  mutating func append(_ name: some Collection<UInt8>) {
    starts.append(names.count)
    names.append(contentsOf: name)
  }

  mutating func removeLast() {
    if let start = starts.popLast() { names.removeSubrange(start...) }
  }

  /// How many elements end with the innermost one of this name; nil where none is open.
  func depth(of name: some Collection<UInt8>) -> Int? {
    for index in starts.indices.reversed() where self.name(at: index).elementsEqual(name) {
      return starts.count - index
    }
    return nil
  }

  /// Whether one of this name is open, whatever its prefix.
  func contains(_ name: String) -> Bool {
    starts.indices.contains { index in
      let whole = self.name(at: index)
      let local = whole.lastIndex(of: UInt8(ascii: ":")).map { whole[($0 + 1)...] } ?? whole
      return local.elementsEqual(name.utf8)
    }
  }

  private func name(at index: Int) -> ArraySlice<UInt8> {
    let end = index + 1 < starts.count ? starts[index + 1] : names.count
    return names[starts[index]..<end]
  }
}
