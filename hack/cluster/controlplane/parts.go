package controlplane

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
)

// The programs that make up a control plane, by the names of their binaries and logs.
const (
	etcdName              = "etcd"
	apiServerName         = "kube-apiserver"
	controllerManagerName = "kube-controller-manager"
	schedulerName         = "kube-scheduler"
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
	path string // of the program, where it is not with the others
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

// apiServer keeps its objects in the etcd at an address. Where no controller reconciles nodes and service accounts, the
// admission plugins that wait for that are off.
func apiServer(c *credentials, etcd string, options Options, audit []string) builder {
	return func(port int) part {
		args := []string{
			"--etcd-servers=http://" + etcd,
			"--bind-address=" + c.host,
			"--advertise-address=" + c.host,
			fmt.Sprintf("--secure-port=%d", port),
			"--tls-cert-file=" + c.certificateFile,
			"--tls-private-key-file=" + c.keyFile,
			"--client-ca-file=" + c.certificateFile,
			"--token-auth-file=" + c.tokenFile,
			"--service-account-issuer=https://kubernetes.default.svc",
			"--service-account-key-file=" + c.serviceAccountKeyFile,
			"--service-account-signing-key-file=" + c.serviceAccountKeyFile,
			"--service-cluster-ip-range=" + serviceRange,
			"--allow-privileged",
			"--max-requests-inflight=3000",
			"--max-mutating-requests-inflight=1000",
			"--profiling=false",
		}
		if options.WithoutControllerManager {
			args = append(args, "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition")
		}
		if options.Address == "" {
			args = append(args,
				"--authorization-mode=RBAC",
				"--endpoint-reconciler-type=none", // a Service cannot have an endpoint on the loopback
			)
		} else {
			args = append(args,
				"--authorization-mode=Node,RBAC",
				// As strict as clusters are: the second refuses to block the deletion of an object to users who may not change it.
				"--enable-admission-plugins=NodeRestriction,OwnerReferencesPermissionEnforcement",
				"--requestheader-client-ca-file="+c.certificateFile, // what runs in pods and asks who calls it expects one
				"--requestheader-allowed-names=nobody",
				"--kubelet-client-certificate="+c.clientCertificateFile,
				"--kubelet-client-key="+c.clientKeyFile,
				"--kubelet-preferred-address-types=InternalIP",
			)
		}
		return part{
			name:   apiServerName,
			args:   slices.Concat(args, audit, options.APIServerFlags),
			health: "https://" + c.address(port) + "/readyz",
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

// schedulerBinary returns the path of kube-scheduler, built if need be, or "" when it is not asked for.
func schedulerBinary(ctx context.Context, options Options, log io.Writer) (string, error) {
	if !options.WithScheduler {
		return "", nil
	}
	dir, err := NodeBinaries(ctx, options.Kubernetes, log)
	return filepath.Join(dir, schedulerName), err
}

// scheduler is the scheduler of Kubernetes, with its defaults.
func scheduler(c *credentials, path, kubeconfig string) builder {
	return func(port int) part {
		return part{
			name: schedulerName,
			path: path,
			args: []string{
				"--kubeconfig=" + kubeconfig,
				"--bind-address=" + loopback,
				fmt.Sprintf("--secure-port=%d", port),
				"--tls-cert-file=" + c.certificateFile,
				"--tls-private-key-file=" + c.keyFile,
				"--leader-elect=false",
				"--profiling=false",
			},
			health: "https://" + address(port) + "/healthz",
		}
	}
}

// For how many seconds kwok takes the leases of nodes: it renews each when a quarter of that is over.
const often, seldom = "40", "4000"

// kwok plays the nodes marked by fakeNodeAnnotation, and the pods bound to them, by the stages beside the binaries.
// It renews the leases of its nodes, so that the controllers see them alive; where none look, seldom: each renewal is a write.
func kwok(binaries, kubeconfig string, watched bool) builder {
	lease := seldom
	if watched {
		lease = often
	}
	return func(port int) part {
		return part{
			name: kwokName,
			args: []string{
				"--kubeconfig=" + kubeconfig,
				"--config=" + filepath.Join(binaries, stagesFile),
				"--manage-all-nodes=false",
				"--manage-nodes-with-annotation-selector=" + fakeNodeAnnotation + "=" + fakeNodeValue,
				"--node-lease-duration-seconds=" + lease,
				"--server-address=" + address(port),
			},
			health: "http://" + address(port) + "/healthz",
		}
	}
}
