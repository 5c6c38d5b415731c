internal import CLinux

extension SharedMemory {
  /// The 64-bit word number `index`, seeing all that its writer had written before `store` of it.
  package func load(_ index: Int) -> UInt64 { podcastfs_load_acquire(word(index)) }

  /// Changes a word; whoever loads it sees all that this thread wrote before.
  package func store(_ index: Int, _ value: UInt64) { podcastfs_store_release(word(index), value) }

  /// From here on a fault that ends this program leaves its signal's number in the word. The memory must stay mapped.
  package func noteFaults(_ index: Int) { podcastfs_note_faults(word(index)) }

  private func word(_ index: Int) -> UnsafeMutablePointer<UInt64> {
    precondition(index >= 0 && (index + 1) * 8 <= bytes.count, "word \(index) is outside of the mapping")
    return bytes.baseAddress!.assumingMemoryBound(to: UInt64.self) + index
  }
}
