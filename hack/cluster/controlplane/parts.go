package controlplane

import (
	"fmt"
	"path/filepath"
)

// The programs that make up a control plane, by the names of their binaries and logs.
const (
	etcdName              = "etcd"
	apiServerName         = "kube-apiserver"
	controllerManagerName = "kube-controller-manager"
	kwokName              = "kwok"
)

// fakeNodeAnnotation marks the nodes that kwok plays, fakeNodeValue is its value.
const (
	fakeNodeAnnotation = "kwok.x-k8s.io/node"
	fakeNodeValue      = "fake"
)

// part is one program of a control plane: how to start it and how to know that it is ready.
type part struct {
	name string
	args []string
	// health answers 200 when the part is ready.
	health string
}

// builder makes the part that listens on a port.
type builder func(port int) part

// etcd keeps its data in the folder f, and does not wait for the disk.
func etcd(f folder) builder {
	return func(port int) part {
		url := "http://" + address(port)
		return part{
			name: etcdName,
			args: []string{
				"--data-dir=" + f.data(),
				"--listen-client-urls=" + url,
				"--advertise-client-urls=" + url,
				"--listen-peer-urls=http://" + address(0),
				"--unsafe-no-fsync",
				"--log-level=warn",
			},
			health: url + "/health",
		}
	}
}

// apiServer keeps its objects in the etcd at etcdPort. When nobody reconciles nodes and service accounts, the
// admission plugins that wait for that are off.
func apiServer(c *credentials, etcdPort int, options Options) builder {
	return func(port int) part {
		args := []string{
			"--etcd-servers=http://" + address(etcdPort),
			"--bind-address=" + loopback,
			"--advertise-address=" + loopback,
			"--endpoint-reconciler-type=none", // a Service cannot have an endpoint on the loopback
			fmt.Sprintf("--secure-port=%d", port),
			"--tls-cert-file=" + c.certificateFile,
			"--tls-private-key-file=" + c.keyFile,
			"--token-auth-file=" + c.tokenFile,
			"--authorization-mode=RBAC",
			"--service-account-issuer=https://kubernetes.default.svc",
			"--service-account-key-file=" + c.serviceAccountKeyFile,
			"--service-account-signing-key-file=" + c.serviceAccountKeyFile,
			"--service-cluster-ip-range=10.96.0.0/16",
			"--allow-privileged",
			"--max-requests-inflight=3000",
			"--max-mutating-requests-inflight=1000",
			"--profiling=false",
		}
		if options.WithoutControllerManager {
			args = append(args, "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition")
		}
		return part{
			name:   apiServerName,
			args:   append(args, options.APIServerFlags...),
			health: "https://" + address(port) + "/readyz",
		}
	}
}

// controllerManager runs the controllers of Kubernetes, fast enough for load tests.
func controllerManager(c *credentials, kubeconfig string) builder {
	return func(port int) part {
		return part{
			name: controllerManagerName,
			args: []string{
				"--kubeconfig=" + kubeconfig,
				"--bind-address=" + loopback,
				fmt.Sprintf("--secure-port=%d", port),
				"--tls-cert-file=" + c.certificateFile,
				"--tls-private-key-file=" + c.keyFile,
				"--root-ca-file=" + c.certificateFile,
				"--service-account-private-key-file=" + c.serviceAccountKeyFile,
				"--leader-elect=false",
				"--controllers=*,-ttl-controller", // it annotates every node for the sake of real kubelets
				"--kube-api-qps=2000",
				"--kube-api-burst=4000",
				"--profiling=false",
			},
			health: "https://" + address(port) + "/healthz",
		}
	}
}

// kwok plays the nodes marked by fakeNodeAnnotation, and the pods bound to them, by the stages beside the binaries.
// It renews the leases of its nodes, so that the controllers see them alive.
func kwok(binaries, kubeconfig string) builder {
	return func(port int) part {
		return part{
			name: kwokName,
			args: []string{
				"--kubeconfig=" + kubeconfig,
				"--config=" + filepath.Join(binaries, stagesFile),
				"--manage-all-nodes=false",
				"--manage-nodes-with-annotation-selector=" + fakeNodeAnnotation + "=" + fakeNodeValue,
				"--node-lease-duration-seconds=40",
				"--server-address=" + address(port),
			},
			health: "http://" + address(port) + "/healthz",
		}
	}
}
