/// How an origin answers: as it should, or with the faults of real hosts, each a switch.
package struct OriginBehaviour: Sendable {
  package init() {}

  // Before the answer
  /// Seconds before anything is sent.
  package var latency: Double?
  /// Closes the connection without an answer.
  package var refusesToAnswer = false
  /// Credentials that it asks for, "name:password" (RFC 7617).
  package var basicCredentials: String?
  /// A query that the request must have, else 403: an address that expires.
  package var requiredQuery: String?

  // Instead of the answer
  /// A status with no episode.
  package var status: Int?
  /// The value of Retry-After with `status`.
  package var retryAfter: String?
  /// A web page with status 200: a hotel's login.
  package var isWebPage = false

  // On the way to the answer
  /// Redirects in a row before it.
  package var redirects = 0
  package var redirectStatus = 302
  /// Redirects to itself without end.
  package var redirectsForEver = false
  /// Where to, in place of the answer.
  package var redirectTarget: String?
  /// The last redirect sets a cookie without which there is 403.
  package var needsCookie = false

  // The head of the answer
  /// Sends chunks in place of a length.
  package var omitsLength = false
  /// Answers 200 to a range request.
  package var ignoresRange = false
  /// Answers 416 to every range request.
  package var refusesRange = false
  /// Bytes by which a 206 begins elsewhere than asked, and says so.
  package var rangeShift: Int64 = 0
  /// What Content-Range and Content-Length say of the whole beyond its size.
  package var totalError: Int64 = 0
  /// Sends neither entity tag nor date.
  package var omitsValidators = false
  /// Compresses whatever was asked for.
  package var compresses = false
  /// Another representation for each request, from this place on: inserted advertisements.
  package var variesFrom: Int64?

  // The body of the answer
  /// Bytes of the body after which the connection is closed, reset or kept in silence.
  package var cutAfter: Int64?
  package var resetAfter: Int64?
  package var stallAfter: Int64?
  /// Bytes per second.
  package var rate: Int64?
}

extension OriginBehaviour {
  /// The behaviour with what `change` sets.
  package static func with(_ change: (inout Self) -> Void) -> Self {
    var behaviour = Self()
    change(&behaviour)
    return behaviour
  }
}
