/// Character references of HTML (WHATWG HTML §13.5), as they stand in text that was escaped twice.
package enum HTMLEntity {
  /// The character reference at the start of `bytes`, which begin with `&`.
  /// - Returns: what it stands for and how many bytes it has, its semicolon included; nil where there is no
  ///   reference that we know.
  package static func resolve(_ bytes: some Collection<UInt8>) -> (text: String, length: Int)? {
    let body = bytes.dropFirst().prefix(32)
    guard let end = body.firstIndex(of: UInt8(ascii: ";")) else { return nil }
    let name = Array(body[..<end])
    guard let first = name.first else { return nil }
    let length = name.count + 2
    if first == UInt8(ascii: "#") {
      return number(name.dropFirst()).map { (String(Character($0)), length) }
    }
    return names[String(decoding: name, as: UTF8.self)].map { ($0, length) }
  }

  /// The character that a numeric reference ("#8217", "#x2019") means; windows-1252 for 128 to 159, as browsers do.
  private static func number(_ digits: ArraySlice<UInt8>) -> Unicode.Scalar? {
    guard let first = digits.first, digits.count <= 8 else { return nil }
    let isHexadecimal = first | 0x20 == UInt8(ascii: "x")
    let text = String(decoding: isHexadecimal ? digits.dropFirst() : digits, as: UTF8.self)
    guard let value = UInt32(text, radix: isHexadecimal ? 16 : 10), text.first != "+" else { return nil }
    if (0x80...0x9F).contains(value) { return Unicode.Scalar(Windows1252.scalars[Int(value) - 0x80]) }
    return value == 0 ? nil : Unicode.Scalar(value)
  }

  /// What the references of HTML 4 (§24) and `apos` stand for.
  private static let names: [String: String] = {
    var names: [String: String] = [:]
    var code: UInt32 = 0
    for word in list.split(whereSeparator: \.isWhitespace) {
      if word.last == ":" {
        code = UInt32(word.dropLast(), radix: 16) ?? 0
      } else {
        names[String(word)] = Unicode.Scalar(code).map { String($0) }
        code += 1
      }
    }
    return names
  }()

  /// Code points in hexadecimal, each before the names of it and those that follow it.
  private static let list = """
    22: quot 26: amp apos 3C: lt 3E: gt A0: nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy
    reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave
    Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve
    Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde
    auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde
    ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml 152: OElig oelig 160: Scaron scaron 178: Yuml
    192: fnof 2C6: circ 2DC: tilde 391: Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi
    Omicron Pi Rho 3A3: Sigma Tau Upsilon Phi Chi Psi Omega 3B1: alpha beta gamma delta epsilon zeta eta theta iota
    kappa lambda mu nu xi omicron pi rho sigmaf sigma tau upsilon phi chi psi omega 3D1: thetasym upsih 3D6: piv
    2002: ensp emsp 2009: thinsp 200C: zwnj zwj lrm rlm 2013: ndash mdash 2018: lsquo rsquo sbquo 201C: ldquo rdquo
    bdquo 2020: dagger Dagger bull 2026: hellip 2030: permil 2032: prime Prime 2039: lsaquo rsaquo 203E: oline
    2044: frasl 20AC: euro 2111: image 2118: weierp 211C: real 2122: trade 2135: alefsym 2190: larr uarr rarr darr
    harr 21B5: crarr 21D0: lArr uArr rArr dArr hArr 2200: forall 2202: part exist 2205: empty 2207: nabla isin notin
    220B: ni 220F: prod 2211: sum minus 2217: lowast 221A: radic 221D: prop infin 2220: ang 2227: and or cap cup int
    2234: there4 223C: sim 2245: cong 2248: asymp 2260: ne equiv 2264: le ge 2282: sub sup nsub 2286: sube supe
    2295: oplus 2297: otimes 22A5: perp 22C5: sdot 2308: lceil rceil lfloor rfloor 2329: lang rang 25CA: loz
    2660: spades 2663: clubs 2665: hearts diams
    """
}
