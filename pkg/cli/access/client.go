package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// NewClient returns a client for the kinds of [Scheme].
func NewClient(config *rest.Config) (client.WithWatch, error) {
	scheme, err := Scheme()
	if err != nil {
		return nil, err
	}
	reached, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	return reached, nil
}

// Scheme returns the kinds that are read from clusters.
func Scheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(
		corev1.AddToScheme(scheme), authenticationv1.AddToScheme(scheme), appsv1.AddToScheme(scheme), coordinationv1.AddToScheme(scheme), admissionv1.AddToScheme(scheme),
		storagev1.AddToScheme(scheme), policyv1.AddToScheme(scheme), batchv1.AddToScheme(scheme), autoscalingv2.AddToScheme(scheme),
		v1alpha1.AddToScheme(scheme),
	)
}

// AnswerWithin bounds how long one request may take, unless --request-timeout does.
func AnswerWithin(config *rest.Config, limit time.Duration) {
	if config.Timeout == 0 {
		config.Timeout = limit
	}
}

// ServerVersion returns the version of an API server.
func ServerVersion(ctx context.Context, config *rest.Config) (*version.Info, error) {
	text, err := Get(ctx, config, "/version")
	if err != nil {
		return nil, err
	}
	info := &version.Info{}
	if err := json.Unmarshal(text, info); err != nil { //nolint:forbidigo // an API server wrote it
		return nil, fmt.Errorf("%s: /version: %w", config.Host, err)
	}
	return info, nil
}

// Get returns the response of an API server at a path.
func Get(ctx context.Context, config *rest.Config, path string) ([]byte, error) {
	c, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	return c.RESTClient().Get().AbsPath(path).Do(ctx).Raw()
}
