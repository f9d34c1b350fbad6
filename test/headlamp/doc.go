// Package headlamp compares what the tests of the Headlamp plugin in ui/headlamp read with what Loadline answers now.
package headlamp
