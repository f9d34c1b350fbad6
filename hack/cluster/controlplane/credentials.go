package controlplane

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"slices"
	"strconv"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/keyutil"
)

const (
	// adminUser is who the admin token stands for; its group, system:masters, may do everything.
	adminUser  = "loadline-admin"
	adminGroup = "system:masters"
	// serviceAddress is the address of the Service "kubernetes": the first of those that the API server gives to Services.
	serviceAddress = "10.96.0.1"
	// serviceRange is what all Services' addresses are taken from.
	serviceRange = "10.96.0.0/16"
)

// credentials are what the parts, and their clients, know each other by. They live as long as one control plane.
type credentials struct {
	host        string            // where the API server listens
	authority   *x509.Certificate // serves the parts on host and 127.0.0.1; signed by itself; signs clients
	key         crypto.Signer     // of the authority
	certificate []byte            // the authority, PEM
	token       string            // of the cluster administrator

	// Files in the control plane's folder.
	certificateFile, keyFile, tokenFile, serviceAccountKeyFile string
	clientCertificateFile, clientKeyFile                       string // of the API server, when it calls kubelets
}

// newCredentials makes fresh credentials for an API server that listens on host and writes their files into f.
func newCredentials(f folder, host string) (*credentials, error) {
	c := &credentials{
		host:                  host,
		token:                 rand.Text(),
		certificateFile:       f.secret("serving.crt"),
		keyFile:               f.secret("serving.key"),
		tokenFile:             f.secret("tokens.csv"),
		serviceAccountKeyFile: f.secret("service-account.key"),
		clientCertificateFile: f.secret("client.crt"),
		clientKeyFile:         f.secret("client.key"),
	}
	if err := c.makeAuthority(); err != nil {
		return nil, err
	}
	key, err := keyutil.MarshalPrivateKeyToPEM(c.key)
	if err != nil {
		return nil, err
	}
	serviceAccountKey, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		return nil, err
	}
	clientCertificate, clientKey, err := c.clientCertificate("kube-apiserver", adminGroup)
	if err != nil {
		return nil, err
	}
	for path, content := range map[string][]byte{
		c.certificateFile:       c.certificate,
		c.keyFile:               key,
		c.tokenFile:             fmt.Appendf(nil, "%s,%s,1,%s\n", c.token, adminUser, adminGroup),
		c.serviceAccountKeyFile: serviceAccountKey,
		c.clientCertificateFile: clientCertificate,
		c.clientKeyFile:         clientKey,
	} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// makeAuthority makes the certificate that all parts trust, and its key.
func (c *credentials) makeAuthority() error {
	host := net.ParseIP(c.host)
	if host == nil {
		return fmt.Errorf("the address for the API server, %q, is not an IP address", c.host)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	addresses := []net.IP{net.ParseIP(loopback), net.ParseIP(serviceAddress)}
	if !slices.ContainsFunc(addresses, host.Equal) {
		addresses = append(addresses, host)
	}
	template := certificate("loadline-cluster")
	template.DNSNames = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}
	template.IPAddresses = addresses
	template.KeyUsage |= x509.KeyUsageCertSign
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	template.BasicConstraintsValid, template.IsCA = true, true
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	c.key = key
	c.certificate = pemCertificate(der)
	c.authority, err = x509.ParseCertificate(der)
	return err
}

// clientCertificate makes a certificate by which the API server knows a user of some groups, and its key, both PEM.
func (c *credentials) clientCertificate(user string, groups ...string) (certificatePEM, keyPEM []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := certificate(user)
	template.Subject.Organization = groups
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	der, err := x509.CreateCertificate(rand.Reader, template, c.authority, key.Public(), c.key)
	if err != nil {
		return nil, nil, err
	}
	keyPEM, err = keyutil.MarshalPrivateKeyToPEM(key)
	return pemCertificate(der), keyPEM, err
}

// certificate is what all certificates have in common.
func certificate(name string) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.AddDate(1, 0, 0),
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}
}

func pemCertificate(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// address returns where the API server listens.
func (c *credentials) address(port int) string {
	return net.JoinHostPort(c.host, strconv.Itoa(port))
}

// restConfig returns the configuration of a client that is the cluster administrator and is not slowed down.
func (c *credentials) restConfig(port int) *rest.Config {
	return &rest.Config{
		Host:            "https://" + c.address(port),
		BearerToken:     c.token,
		TLSClientConfig: rest.TLSClientConfig{CAData: c.certificate},
		QPS:             -1, // no limit
	}
}

// writeKubeconfig writes what restConfig returns, for an API server that is reached at an address, in the form that kubectl reads.
func (c *credentials) writeKubeconfig(path, address string) error {
	return c.write(path, address, &clientcmdapi.AuthInfo{Token: c.token})
}

// writeUserKubeconfig writes a kubeconfig file for a user of some groups.
func (c *credentials) writeUserKubeconfig(path string, port int, user string, groups []string) error {
	if user == "" {
		return errors.New("write a kubeconfig: the user has no name")
	}
	certificate, key, err := c.clientCertificate(user, groups...)
	if err != nil {
		return err
	}
	return c.write(path, c.address(port), &clientcmdapi.AuthInfo{ClientCertificateData: certificate, ClientKeyData: key})
}

func (c *credentials) write(path, address string, user *clientcmdapi.AuthInfo) error {
	const name = "loadline"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: "https://" + address, CertificateAuthorityData: c.certificate}
	config.AuthInfos[name] = user
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	return clientcmd.WriteToFile(*config, path)
}
