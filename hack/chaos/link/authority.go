package link

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"time"
)

// Authority has the certificates that links serve with at 127.0.0.1.
type Authority struct {
	// PEM is its own certificate, for clients to trust.
	PEM            []byte
	valid, expired *tls.Certificate
}

// NewAuthority returns an authority that is trusted from a moment on.
func NewAuthority(now time.Time) (*Authority, error) {
	const day = 24 * time.Hour
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "chaos"}, NotBefore: now.Add(-2 * day), NotAfter: now.Add(365 * day),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, root, root, key.Public(), key)
	if err != nil {
		return nil, err
	}
	a := &Authority{PEM: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
	if a.valid, err = serving(root, key, now.Add(-2*day), now.Add(365*day)); err != nil {
		return nil, err
	}
	a.expired, err = serving(root, key, now.Add(-2*day), now.Add(-day))
	return a, err
}

// serving returns a certificate for 127.0.0.1.
func serving(root *x509.Certificate, key *ecdsa.PrivateKey, from, until time.Time) (*tls.Certificate, error) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "link"}, NotBefore: from, NotAfter: until,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, root, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
