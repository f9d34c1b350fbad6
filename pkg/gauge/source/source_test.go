package source

import "testing"

func TestAnIPv4AddressCountsToItselfAndAnIPv6AddressToItsNetwork(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"10.0.3.7:4711":                "10.0.3.7/32",
		"[::ffff:10.0.3.7]:4711":       "10.0.3.7/32",
		"[fd00:1:2:3:4:5:6:7]:1":       "fd00:1:2:3::/64",
		"[fd00:1:2:3:ffff::1]:2":       "fd00:1:2:3::/64",
		"[fe80::1%eth0]:1":             "fe80::/64",
		"[fd00:1:2:4:4:5:6:7]:1":       "fd00:1:2:4::/64",
		"a pipe":                       "invalid Prefix",
		"gauge.loadline-gauge.svc:443": "invalid Prefix",
	} {
		if got := Of(address).String(); got != want {
			t.Errorf("%s counts to %s, want %s", address, got, want)
		}
	}
}
