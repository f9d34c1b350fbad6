package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// How long a certificate of our own is valid, from a little before it is made: clocks differ. It is replaced at half of that.
const (
	validity   = 365 * 24 * time.Hour
	difference = time.Hour
)

// SelfSigned returns certificates that are made in memory, for a name. No client can verify them: they keep others from
// reading along, not from standing in the middle. The API server does not verify those of pods either.
func SelfSigned(name string, now clock.PassiveClock) Certificate {
	var (
		mu   sync.Mutex
		made *tls.Certificate
	)
	return func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		mu.Lock()
		defer mu.Unlock()
		if at := now.Now(); made == nil || at.After(made.Leaf.NotBefore.Add(validity/2)) || at.Before(made.Leaf.NotBefore) {
			fresh, err := selfSign(name, at)
			if err != nil {
				return nil, fmt.Errorf("making a certificate: %w", err)
			}
			made = fresh
		}
		return made, nil
	}
}

func selfSign(name string, at time.Time) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: at.Add(-difference), NotAfter: at.Add(validity),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	encoded, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(encoded)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{encoded}, PrivateKey: key, Leaf: leaf}, nil
}

// rereadAfter is how long the certificate of files is used before they are read again: they may be replaced.
const rereadAfter = time.Minute

// FromFiles returns the certificate of two PEM files, which are read again every minute in which there are connections. While
// they cannot be read, or do not fit, the last that did is used. The first must be right.
func FromFiles(certificateFile, keyFile string, now clock.PassiveClock) (Certificate, error) {
	load := func() (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(certificateFile, keyFile)
		return &pair, err
	}
	current, err := load()
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	read := now.Now()
	return func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		mu.Lock()
		defer mu.Unlock()
		if at := now.Now(); at.Sub(read) >= rereadAfter {
			read = at
			if fresh, err := load(); err == nil {
				current = fresh
			}
		}
		return current, nil
	}, nil
}
