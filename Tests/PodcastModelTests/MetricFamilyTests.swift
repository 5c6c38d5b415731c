import PodcastModel
import Testing

struct MetricFamilyTests {
  @Test func `Families are written as OpenMetrics has them`() {
    var requests = MetricFamily("a_requests", .counter, "Requests \"all\".")
    requests.add(Int64(3), ["op": "read", "path": "a\\b\"c\nd"])
    requests.add(0.5)
    var time = MetricFamily("a_seconds", .histogram, unit: "seconds", "Time.")
    time.add(counts: [1, 0, 2], bounds: [0.1, 1], sum: 4.25, ["op": "x"])
    let text = MetricFamily.document([requests, time])
    #expect(
      text == """
        # TYPE a_requests counter
        # HELP a_requests Requests \\"all\\".
        a_requests_total{op="read",path="a\\\\b\\"c\\nd"} 3
        a_requests_total 0.5
        # TYPE a_seconds histogram
        # UNIT a_seconds seconds
        # HELP a_seconds Time.
        a_seconds_bucket{op="x",le="0.1"} 1
        a_seconds_bucket{op="x",le="1.0"} 1
        a_seconds_bucket{op="x",le="+Inf"} 3
        a_seconds_count{op="x"} 3
        a_seconds_sum{op="x"} 4.25
        # EOF

        """, "\(text)")
  }
}
