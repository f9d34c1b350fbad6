package local

import (
	"fmt"
	"net"
)

// OuterAddress returns an address of this machine that the API server forwards requests for pods to: it refuses those of the
// loopback.
func OuterAddress() (string, error) {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return "", err
	}
	for _, a := range addresses {
		if ip, is := a.(*net.IPNet); is && ip.IP.To4() != nil && ip.IP.IsGlobalUnicast() {
			return ip.IP.String(), nil
		}
	}
	return "", fmt.Errorf("this machine has no address besides those of the loopback, which the API server does not forward to: %v", addresses)
}
