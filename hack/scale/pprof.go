package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// pprofPath is where programs of Go serve their profiles.
const pprofPath = "/debug/pprof/"

// profiled is a program that serves its profiles, which are kept in a folder under its name.
type profiled struct {
	address, name, dir string
	client             *http.Client
}

// newProfiled returns a program that serves its profiles at an address such as http://127.0.0.1:6060, with a certificate of its own if by TLS.
func newProfiled(address, name, dir string) (*profiled, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true}}
	return &profiled{address: address, name: name, dir: dir, client: &http.Client{Transport: transport}}, nil
}

// while keeps where the program spends its processor time in some seconds that begin as what is to be done does.
func (p *profiled) while(ctx context.Context, length time.Duration, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- p.keep(ctx, fmt.Sprintf("profile?seconds=%d", max(1, int(length.Seconds()))), "cpu") }()
	return errors.Join(do(), <-done)
}

// heap keeps what the program's memory is used for, once garbage is collected.
func (p *profiled) heap(ctx context.Context) error { return p.keep(ctx, "heap?gc=1", "heap") }

func (p *profiled) keep(ctx context.Context, profile, kind string) (err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.address+pprofPath+profile, http.NoBody)
	if err != nil {
		return err
	}
	response, err := p.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the profile %s of %s: %s", profile, p.name, response.Status)
	}
	file, err := os.Create(filepath.Join(p.dir, p.name+"."+kind+".pprof"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	_, err = io.Copy(file, response.Body)
	return err
}
