// Package source defines the source of a connection or a request, so that one caller uses up nothing of another's budget. It takes
// a remote address and returns a prefix, which compares by ==. It never resolves a name.
package source

import "net/netip"

// ipv6Bits is how much of an IPv6 address counts: who has an address of a /64 network commonly has all of them.
const ipv6Bits = 64

// Of returns to whom a remote address counts, which is HOST:PORT: an IPv4 address to itself, also where it is written as an IPv6
// address, and an IPv6 address to its /64 network. What is no such address, as of a connection that is no TCP connection, counts to
// the zero Prefix.
func Of(address string) netip.Prefix {
	parsed, err := netip.ParseAddrPort(address)
	if err != nil {
		return netip.Prefix{}
	}
	ip := parsed.Addr().Unmap().WithZone("")
	bits := ip.BitLen()
	if ip.Is6() {
		bits = ipv6Bits
	}
	prefix, _ := ip.Prefix(bits) // the number of bits fits
	return prefix
}
