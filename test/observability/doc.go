// Package observability tests what the chart ships for Prometheus and Grafana:
// the rules of charts/loadline/rules with promtool, whose own tests are the YAML
// files beside this one, the dashboards of charts/loadline/dashboards, and the
// queries of both against a real Prometheus that scrapes real programs.
//
//	go test ./test/observability                                    # after make prometheus promtool
//	go test ./test/observability -run Real -args -render out/grafana  # and draw every dashboard
package observability
