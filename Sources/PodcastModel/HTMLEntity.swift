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

  /// The character that a numeric reference ("#8217", "#x2019") means; windows-1252 for 128 to 159, as
  /// browsers do.
  private static func number(_ digits: ArraySlice<UInt8>) -> Unicode.Scalar? {
    guard let first = digits.first, digits.count <= 8 else { return nil }
    let isHexadecimal = first | 0x20 == UInt8(ascii: "x")
    let text = String(decoding: isHexadecimal ? digits.dropFirst() : digits, as: UTF8.self)
    guard let value = UInt32(text, radix: isHexadecimal ? 16 : 10), text.first != "+" else { return nil }
    if (0x80...0x9F).contains(value) {
      return Unicode.Scalar(Windows1252.scalars[Int(value) - 0x80])
    }
    return value == 0 ? nil : Unicode.Scalar(value)
  }

  /// What a named reference of HTML 4 (§24) or `apos` stands for.
  private static let names: [String: String] = {
    var names: [String: String] = [:]
    for entry in list.split(whereSeparator: \.isWhitespace) {
      let parts = entry.split(separator: "=")
      names[String(parts[0])] = UInt32(parts[1], radix: 16).flatMap(Unicode.Scalar.init).map { String($0) }
    }
    return names
  }()

  /// Names and code points in hexadecimal.
  private static let list = """
    Aacute=C1 aacute=E1 Acirc=C2 acirc=E2 acute=B4 AElig=C6 aelig=E6 Agrave=C0 agrave=E0 alefsym=2135
    Alpha=391 alpha=3B1 amp=26 and=2227 ang=2220 apos=27 Aring=C5 aring=E5 asymp=2248 Atilde=C3 atilde=E3
    Auml=C4 auml=E4 bdquo=201E Beta=392 beta=3B2 brvbar=A6 bull=2022 cap=2229 Ccedil=C7 ccedil=E7 cedil=B8
    cent=A2 Chi=3A7 chi=3C7 circ=2C6 clubs=2663 cong=2245 copy=A9 crarr=21B5 cup=222A curren=A4 Dagger=2021
    dagger=2020 dArr=21D3 darr=2193 deg=B0 Delta=394 delta=3B4 diams=2666 divide=F7 Eacute=C9 eacute=E9
    Ecirc=CA ecirc=EA Egrave=C8 egrave=E8 empty=2205 emsp=2003 ensp=2002 Epsilon=395 epsilon=3B5 equiv=2261
    Eta=397 eta=3B7 ETH=D0 eth=F0 Euml=CB euml=EB euro=20AC exist=2203 fnof=192 forall=2200 frac12=BD
    frac14=BC frac34=BE frasl=2044 Gamma=393 gamma=3B3 ge=2265 gt=3E hArr=21D4 harr=2194 hearts=2665
    hellip=2026 Iacute=CD iacute=ED Icirc=CE icirc=EE iexcl=A1 Igrave=CC igrave=EC image=2111 infin=221E
    int=222B Iota=399 iota=3B9 iquest=BF isin=2208 Iuml=CF iuml=EF Kappa=39A kappa=3BA Lambda=39B lambda=3BB
    lang=2329 laquo=AB lArr=21D0 larr=2190 lceil=2308 ldquo=201C le=2264 lfloor=230A lowast=2217 loz=25CA
    lrm=200E lsaquo=2039 lsquo=2018 lt=3C macr=AF mdash=2014 micro=B5 middot=B7 minus=2212 Mu=39C mu=3BC
    nabla=2207 nbsp=A0 ndash=2013 ne=2260 ni=220B not=AC notin=2209 nsub=2284 Ntilde=D1 ntilde=F1 Nu=39D
    nu=3BD Oacute=D3 oacute=F3 Ocirc=D4 ocirc=F4 OElig=152 oelig=153 Ograve=D2 ograve=F2 oline=203E
    Omega=3A9 omega=3C9 Omicron=39F omicron=3BF oplus=2295 or=2228 ordf=AA ordm=BA Oslash=D8 oslash=F8
    Otilde=D5 otilde=F5 otimes=2297 Ouml=D6 ouml=F6 para=B6 part=2202 permil=2030 perp=22A5 Phi=3A6 phi=3C6
    Pi=3A0 pi=3C0 piv=3D6 plusmn=B1 pound=A3 Prime=2033 prime=2032 prod=220F prop=221D Psi=3A8 psi=3C8
    quot=22 radic=221A rang=232A raquo=BB rArr=21D2 rarr=2192 rceil=2309 rdquo=201D real=211C reg=AE
    rfloor=230B Rho=3A1 rho=3C1 rlm=200F rsaquo=203A rsquo=2019 sbquo=201A Scaron=160 scaron=161 sdot=22C5
    sect=A7 shy=AD Sigma=3A3 sigma=3C3 sigmaf=3C2 sim=223C spades=2660 sub=2282 sube=2286 sum=2211 sup=2283
    sup1=B9 sup2=B2 sup3=B3 supe=2287 szlig=DF Tau=3A4 tau=3C4 there4=2234 Theta=398 theta=3B8 thetasym=3D1
    thinsp=2009 THORN=DE thorn=FE tilde=2DC times=D7 trade=2122 Uacute=DA uacute=FA uArr=21D1 uarr=2191
    Ucirc=DB ucirc=FB Ugrave=D9 ugrave=F9 uml=A8 upsih=3D2 Upsilon=3A5 upsilon=3C5 Uuml=DC uuml=FC
    weierp=2118 Xi=39E xi=3BE Yacute=DD yacute=FD yen=A5 Yuml=178 yuml=FF Zeta=396 zeta=3B6 zwj=200D
    zwnj=200C
    """
}
