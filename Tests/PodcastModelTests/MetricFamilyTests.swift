import PodcastModel
import Testing

struct MetricFamilyTests {
  @Test func `Families are written as OpenMetrics has them`() {
    var requests = MetricFamily("a_requests", .counter, "Requests \"all\".")
    requests.add(Int64(3), ["op": "read", "path": "a\\b\"c\nd"])
    requests.add(0.5)
    var time = MetricFamily("a_seconds", .gauge, unit: "seconds", "Time.")
    time.add(4.25, ["op": "x"])
    let text = MetricFamily.document([requests, time])
    #expect(
      text == """
        # TYPE a_requests counter
        # HELP a_requests Requests \\"all\\".
        a_requests_total{op="read",path="a\\\\b\\"c\\nd"} 3
        a_requests_total 0.5
        # TYPE a_seconds gauge
        # UNIT a_seconds seconds
        # HELP a_seconds Time.
        a_seconds{op="x"} 4.25
        # EOF

        """, "\(text)")
  }
}
