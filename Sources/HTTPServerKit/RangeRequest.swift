/// What a Range header asks of something with a known size (RFC 9110 §14.2).
enum RangeRequest: Equatable {
  /// No range, one that is malformed, or several: the whole is the answer.
  case whole
  case part(Range<Int64>)
  /// Nothing of it is there: 416.
  case unsatisfiable

  init(_ header: String?, size: Int64) {
    self = .whole
    guard let header, header.lowercased().hasPrefix("bytes=") else { return }
    let ends = header.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2 else { return }
    let numbers = ends.map { end in
      end.utf8.allSatisfy { (48...57).contains($0) } && !end.isEmpty ? Int64(end) ?? .max : nil
    }
    switch (numbers[0], numbers[1]) {
    case (nil, let suffix?) where ends[0].isEmpty:
      self = suffix == 0 || size == 0 ? .unsatisfiable : .part(max(size - suffix, 0)..<size)
    case (let first?, nil) where ends[1].isEmpty:
      self = first < size ? .part(first..<size) : .unsatisfiable
    case (let first?, let last?) where first <= last:
      self = first < size ? .part(first..<min(last, size - 1) + 1) : .unsatisfiable
    default: break
    }
  }
}
