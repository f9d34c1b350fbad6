package program

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

// page is what the server answers.
const page = `<!doctype html><title>{{.Title}}</title><table>
{{range .Rows}}<tr><td>{{.Service}}<td>{{.Message}}<td>{{.Status}}<td>{{printf "%.3f" .Seconds}}
{{end}}</table>`

// openWeb starts a server at the loopback. A round is a request, and whatever the client does to read the answer.
func openWeb(ctx context.Context, s *Spec, _ string) (*program, error) {
	parsed, err := template.New("page").Parse(page)
	if err != nil {
		return nil, err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(s.Seed, 0))
	rows := make([]record, s.Size)
	for i := range rows {
		rows[i] = record{Service: fmt.Sprintf("service-%d", i), Message: fmt.Sprintf("<%x>", random.Uint64()), Status: i, Seconds: random.ExpFloat64()}
	}
	server := &http.Server{
		ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(to http.ResponseWriter, _ *http.Request) {
			if err := parsed.Execute(to, map[string]any{"Title": s.Kind, "Rows": rows}); err != nil {
				panic(http.ErrAbortHandler) // the client says what it misses
			}
		}),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	transport := &http.Transport{MaxIdleConnsPerHost: s.Clients}
	client := &http.Client{Transport: transport}
	address := "http://" + listener.Addr().String()
	return &program{
		round: func(ctx context.Context) error { return request(ctx, client, address) },
		close: func() error {
			transport.CloseIdleConnections()
			err := server.Close()
			if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
				err = errors.Join(err, served)
			}
			return err
		},
	}, nil
}

// request asks for the page and reads it.
func request(ctx context.Context, client *http.Client, address string) (err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return err
	}
	response, err := client.Do(r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answers %s", response.Status)
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err
}
