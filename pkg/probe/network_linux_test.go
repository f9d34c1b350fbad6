//go:build amd64 || arm64

package probe

import (
	"io"
	"net"
	"runtime"
	"testing"
)

// The calls block their thread, of which the runtime does not know: a collection of garbage, for which it stops all of them, must
// not wait for an answer that waits for the collection.
func TestAnExchangeThatWaitsLetsTheRuntimeStopIt(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is there at once
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	answered := make(chan error, 1)
	go func() {
		connection, err := listener.Accept()
		if err != nil {
			answered <- err
			return
		}
		if _, err = io.ReadFull(connection, make([]byte, NetworkUnit)); err == nil {
			runtime.GC()
			_, err = connection.Write([]byte{1})
		}
		answered <- err
	}()
	l, err := dial(t.Context(), listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := l.exchange(); err != nil {
		t.Error(err)
	}
	if err := <-answered; err != nil {
		t.Error(err)
	}
	if err := l.close(); err != nil {
		t.Error(err)
	}
}
