// Package oldest tests that the objects which config/gauge has use only groups, versions and fields
// that the oldest Kubernetes which the gauges run on has. That is the one whose API its module pins.
package oldest
