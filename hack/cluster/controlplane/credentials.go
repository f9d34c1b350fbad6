package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/keyutil"
)

// adminUser is who the admin token stands for; its group, system:masters, may do everything.
const adminUser = "loadline-admin"

// credentials are what the parts, and their clients, know each other by. They live as long as one control plane.
type credentials struct {
	certificate []byte // PEM: serves 127.0.0.1, signed by itself, so it is its own authority
	token       string // of the cluster administrator

	// Files in the control plane's folder.
	certificateFile, keyFile, tokenFile, serviceAccountKeyFile string
}

// newCredentials makes fresh credentials and writes their files into f.
func newCredentials(f folder) (*credentials, error) {
	certificate, key, err := servingCertificate()
	if err != nil {
		return nil, err
	}
	serviceAccountKey, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		return nil, err
	}
	c := &credentials{
		certificate:           certificate,
		token:                 rand.Text(),
		certificateFile:       f.secret("serving.crt"),
		keyFile:               f.secret("serving.key"),
		tokenFile:             f.secret("tokens.csv"),
		serviceAccountKeyFile: f.secret("service-account.key"),
	}
	for path, content := range map[string][]byte{
		c.certificateFile:       certificate,
		c.keyFile:               key,
		c.tokenFile:             fmt.Appendf(nil, "%s,%s,1,system:masters\n", c.token, adminUser),
		c.serviceAccountKeyFile: serviceAccountKey,
	} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// servingCertificate makes a certificate for this machine's loopback and its key, both PEM.
func servingCertificate() (certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "loadline-cluster"},
		DNSNames:              []string{"localhost"},
		IPAddresses:           []net.IP{net.ParseIP(loopback)},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.AddDate(1, 0, 0),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return nil, nil, err
	}
	key, err = keyutil.MarshalPrivateKeyToPEM(private)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), key, nil
}

// restConfig returns the configuration of a client that is the cluster administrator and is not slowed down.
func (c *credentials) restConfig(port int) *rest.Config {
	return &rest.Config{
		Host:            "https://" + address(port),
		BearerToken:     c.token,
		TLSClientConfig: rest.TLSClientConfig{CAData: c.certificate},
		QPS:             -1, // no limit
	}
}

// writeKubeconfig writes what restConfig returns in the form that kubectl reads.
func (c *credentials) writeKubeconfig(path string, port int) error {
	const name = "loadline"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: "https://" + address(port), CertificateAuthorityData: c.certificate}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: c.token}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	return clientcmd.WriteToFile(*config, path)
}
