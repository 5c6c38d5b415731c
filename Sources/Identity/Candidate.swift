internal import PodcastModel

/// One item or episode with all that it is compared by.
struct Candidate: Sendable {
  let traits: ItemTraits
  let address: AddressForms
  /// Letters and digits alone; nil where there are none.
  let title: String?
  /// Season and number as one.
  let number: String?
  /// Bytes, where it is a length that an episode may have.
  let length: Int64?

  init(_ traits: ItemTraits) {
    self.traits = traits
    address = AddressForms(traits.address)
    let letters = TitleText.plain(traits.title).lowercased().filter { $0.isLetter || $0.isNumber }
    title = letters.isEmpty ? nil : letters
    number = traits.number.map { "\(traits.season ?? 0)-\($0)" }
    length = traits.length.flatMap { $0 >= Self.shortestLength ? $0 : nil }
  }

  var words: TitleWords { TitleWords(traits.title) }

  /// Bytes: feeds write 0, 1 or seconds where they know no length.
  private static let shortestLength: Int64 = 10_000

  /// Under each of these it meets those that it may be.
  var keys: [TraitKey] {
    var keys: [TraitKey] = [
      TraitKey(.address, address.whole), TraitKey(.unsigned, address.unsigned), TraitKey(.bare, address.bare),
      TraitKey(.fileName, address.fileName),
    ]
    if let address = address.withoutTokens { keys.append(TraitKey(.tokenless, address)) }
    if let guid = traits.guid { keys.append(TraitKey(.guid, guid)) }
    if let title { keys.append(TraitKey(.title, title)) }
    if let published = traits.published { keys.append(TraitKey(.time, "\(published)")) }
    if let length { keys.append(TraitKey(.length, "\(length)")) }
    if let number { keys.append(TraitKey(.number, number)) }
    return keys
  }

  /// Where very many share each trait, two together still tell them apart.
  var joinedKeys: [TraitKey] {
    var keys: [TraitKey] = []
    if let guid = traits.guid {
      keys.append(TraitKey(.joined, "\(guid)\n\(address.whole)"))
      if let title { keys.append(TraitKey(.joined, "\(guid)\n\(title)")) }
    }
    if let title, let published = traits.published {
      keys.append(TraitKey(.joined, "\(title)\n\(published / 86_400)"))
    }
    return keys
  }
}

/// A trait's kind and value.
struct TraitKey: Hashable, Sendable {
  enum Kind: Sendable {
    case guid, address, unsigned, bare, tokenless, fileName, title, time, length, number, joined
  }
  let kind: Kind
  let value: String

  init(_ kind: Kind, _ value: String) {
    self.kind = kind
    self.value = value
  }
}
