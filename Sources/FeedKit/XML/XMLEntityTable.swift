internal import CLibXML2
internal import PodcastModel

/// The entities of one document: those of HTML, and the document's own as far as they hold plain text.
struct XMLEntityTable {
  /// Longer ones are taken for unknown, and so are more of them: what a document may blow up to stays in
  /// proportion to its size.
  private static let longestContent = 256
  private static let most = 1000

  private var entities: [String: xmlEntityPtr] = [:]
  /// Bytes that entities may still stand for.
  private var room: Int

  /// - Parameter limit: bytes that entities may stand for together.
  init(limit: Int) { room = limit }

  /// Notes a declaration of the document's internal subset. The first one of a name holds (XML 1.0 §4.2).
  mutating func declare(_ name: UnsafePointer<UInt8>, _ content: UnsafePointer<UInt8>) {
    let length = Int(xmlStrlen(content))
    guard length <= Self.longestContent, entities.count < Self.most else { return }
    let bytes = UnsafeBufferPointer(start: content, count: length)
    guard !bytes.contains(UInt8(ascii: "&")), !bytes.contains(UInt8(ascii: "<")) else { return }
    let key = String(cString: name)
    guard entities[key] == nil else { return }
    entities[key] = Self.make(key, Array(bytes))
  }

  /// What a name stands for; nil where it is not known.
  mutating func find(_ name: UnsafePointer<UInt8>) -> xmlEntityPtr? {
    let key = String(cString: name)
    if let known = entities[key] { return known }
    guard let text = HTMLEntity.named(key) else { return nil }
    let made = Self.make(key, Array(text.utf8))
    entities[key] = made
    return made
  }

  /// Takes the bytes that an entity stands for from what all may. Short ones, as HTML has, cost nothing: a
  /// reference to them is no shorter.
  /// - Returns: false where too little is left.
  mutating func spend(_ entity: xmlEntityPtr) -> Bool {
    let length = Int(entity.pointee.length)
    if length <= 8 { return true }
    guard length <= room else { return false }
    room -= length
    return true
  }

  mutating func deallocate() {
    for entity in entities.values {
      podcastfs_xml_free(UnsafeMutableRawPointer(mutating: entity.pointee.name))
      podcastfs_xml_free(entity.pointee.content)
      if let original = entity.pointee.orig { podcastfs_xml_free(original) }
      entity.deallocate()
    }
    entities = [:]
  }

  /// One that libxml2 hands to us as text, without parsing its content.
  private static func make(_ name: String, _ content: [UInt8]) -> xmlEntityPtr {
    let entity = xmlEntityPtr.allocate(capacity: 1)
    entity.initialize(to: xmlEntity())
    entity.pointee.type = XML_ENTITY_DECL
    entity.pointee.etype = XML_INTERNAL_PREDEFINED_ENTITY
    entity.pointee.name = UnsafePointer(xmlStrndup(name, Int32(name.utf8.count)))
    entity.pointee.content = xmlStrndup(content, Int32(content.count))
    entity.pointee.length = Int32(content.count)
    return entity
  }
}
