// Dial runs in a pod and reports whether the API server can be reached from there, by the address that pods are given.
package main

import (
	"fmt"
	"net"
	"os"
	"time"
)

func main() {
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	connection, err := net.DialTimeout("tcp", net.JoinHostPort(host, port), 10*time.Second)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	connection.Close()
	fmt.Println("reached", host)
}
