internal import Configuration
internal import PodcastModel

/// Sidecars by name. Nothing is kept for them: most are never asked for.
extension Shelf {
  /// nil where an episode has its name.
  func cover(_ kinds: Set<Settings.Sidecar>) -> Sidecar? {
    guard kinds.contains(.cover), let cover = Sidecar.cover(of: podcast) else { return nil }
    return episode(named: cover.name) == nil ? cover : nil
  }

  /// Those of one of its episodes whose names are no other's.
  func sidecars(of episode: Episode, _ kinds: Set<Settings.Sidecar>) -> [Sidecar] {
    Sidecar.all(of: entry(episode), kinds).filter { sidecar in
      // "X.de.vtt" belongs to an episode "X.de" before it does to one "X".
      let base = sidecar.name.withoutEnding(".vtt".utf8.count)
      let isForeign =
        sidecar.node.kind == .transcript && base != episode.stem && self.episode(stem: base) != nil
      return !isForeign && self.episode(named: sidecar.name) == nil
    }
  }

  func sidecar(named name: String, _ kinds: Set<Settings.Sidecar>) -> Sidecar? {
    if let cover = cover(kinds), cover.name == name { return cover }
    for ending in [".chapters.json", ".vtt", ".srt", ".txt"] where name.hasSuffix(ending) {
      let base = name.withoutEnding(ending.utf8.count)
      let shorter = base.lastIndex(of: ".").map { String(base[..<$0]) }
      for stem in [base, shorter].compactMap({ $0 }) {
        let found = episode(stem: stem).flatMap { episode in
          sidecars(of: episode, kinds).first { $0.name == name }
        }
        if let found { return found }
      }
    }
    return nil
  }

  private func episode(stem: String) -> Episode? {
    var (low, high) = (0, episodes.count)
    while low < high {
      let middle = (low + high) / 2
      if episodes[middle].stem < stem { low = middle + 1 } else { high = middle }
    }
    return low < episodes.count && episodes[low].stem == stem ? episodes[low] : nil
  }
}

extension String {
  fileprivate func withoutEnding(_ count: Int) -> String {
    String(decoding: utf8.dropLast(count), as: UTF8.self)
  }
}
