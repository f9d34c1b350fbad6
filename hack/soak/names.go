package main

import "strings"

// name returns the name of a series: of a part of Loadline, of one of its instances or of all (""), and what is sampled.
func name(part, instance, what string) string { return part + "|" + instance + "|" + what }

// parts of a name.
func split(name string) (part, instance, what string) {
	part, rest, _ := strings.Cut(name, "|")
	instance, what, _ = strings.Cut(rest, "|")
	return part, instance, what
}
