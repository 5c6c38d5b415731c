internal import CLibXML2
internal import PodcastModel

/// The entities of HTML as far as one document names them. A document's own are not known: nothing can expand.
struct XMLEntityTable {
  private var entities: [String: xmlEntityPtr] = [:]

  /// The character that a name stands for; nil where it is not known.
  mutating func find(_ name: UnsafePointer<UInt8>) -> xmlEntityPtr? {
    let key = String(cString: name)
    if let known = entities[key] { return known }
    guard let text = HTMLEntity.named(key) else { return nil }
    let made = Self.make(key, Array(text.utf8))
    entities[key] = made
    return made
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
