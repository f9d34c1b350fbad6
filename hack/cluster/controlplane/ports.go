package controlplane

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports are taken from below the range that operating systems hand out to outgoing connections (from 32768 on
// Linux), so that no process is given one of ours by chance between the moment we find it free and the moment a part
// listens on it, or while the API server restarts.
const (
	firstPort = 20000
	lastPort  = 29999
)

// loopback is where all parts listen.
const loopback = "127.0.0.1"

// errPortTaken says that a part could not listen on its port.
var errPortTaken = errors.New("its port is taken")

// freePort finds a port on which no process listens. One may begin to before the caller does: see errPortTaken.
func freePort() (int, error) {
	const attempts = 100
	var failure error
	for range attempts {
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		listener, err := net.Listen("tcp", address(port))
		if err == nil {
			return port, listener.Close()
		}
		failure = err
	}
	return 0, fmt.Errorf("no free port among %d tried between %d and %d: %w", attempts, firstPort, lastPort, failure)
}

func address(port int) string {
	return net.JoinHostPort(loopback, strconv.Itoa(port))
}
