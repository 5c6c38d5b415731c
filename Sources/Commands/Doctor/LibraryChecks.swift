internal import FeedKit
internal import HTTPKit
internal import SQLiteKit

/// Whether the libraries can do what is asked of them.
package enum LibraryChecks {
  package static func all() -> [Finding] {
    [
      curl(),
      .fine("libxml2 \(XMLLibrary.version)"),
      sqlite(SQLiteLibrary.version, hasFullTextSearch: SQLiteLibrary.hasFullTextSearch),
    ]
  }

  private static func curl() -> Finding {
    do throws(HTTPError) {
      let library = try HTTPLibrary()
      return curl(library.version, hasTLS: library.hasTLS, hasHTTP2: library.hasHTTP2)
    } catch {
      return .problem(error.message, mend: "apt-get install libcurl4")
    }
  }

  package static func curl(_ version: String, hasTLS: Bool, hasHTTP2: Bool) -> Finding {
    guard hasTLS else {
      return .problem("libcurl \(version) cannot do https", mend: "apt-get install libcurl4")
    }
    return .fine("libcurl \(version) with https\(hasHTTP2 ? " and HTTP/2" : "")")
  }

  package static func sqlite(_ version: String, hasFullTextSearch: Bool) -> Finding {
    hasFullTextSearch
      ? .fine("SQLite \(version) with full-text search")
      : .problem("SQLite \(version) has no full-text search (FTS5)", mend: "apt-get install libsqlite3-0")
  }
}
