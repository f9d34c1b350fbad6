// Package link passes connections from one program to another on, and injects faults on the way: a link can delay what is sent,
// hold it back as a network does that loses packets, refuse and reset connections, and, where it understands HTTP, answer in place
// of the server, or lose answers. Heal ends all of that. Links need no rights, and nothing of the kernel.
package link
