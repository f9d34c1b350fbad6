package integration

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// inAnHour returns the path of a kubeconfig file by which the API server says that it is an hour later than it is.
func (e *environment) inAnHour(t *testing.T) string {
	t.Helper()
	to, err := url.Parse(e.plane.RESTConfig().Host)
	must(t, err)
	transport, err := rest.TransportFor(e.plane.RESTConfig())
	must(t, err)
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(to) },
		Transport: transport,
		ModifyResponse: func(r *http.Response) error {
			r.Header.Set("Date", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
			return nil
		},
	})
	t.Cleanup(proxy.Close)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"later": {Server: proxy.URL}},
		Contexts:       map[string]*clientcmdapi.Context{"later": {Cluster: "later"}},
		CurrentContext: "later",
	}, path))
	return path
}

// As where the clock of the manager's machine is an hour behind.
func TestTheManagerGoesByTheClockOfTheAPIServer(t *testing.T) {
	t.Parallel()
	p := ownEnvironment(t).newPlace(t, 1)
	p.startManagerAs(t, p.inAnHour(t))
	profile := p.profile("job", map[string]string{"cpu": "0.6"})
	must(t, p.Create(t.Context(), profile))
	p.await(t, profile, func() bool { return len(profile.Status.Conditions) > 0 })
	ready := meta.FindStatusCondition(profile.Status.Conditions, v1alpha1.ConditionReady)
	if ahead := time.Until(ready.LastTransitionTime.Time); ahead < 50*time.Minute || ahead > time.Hour+time.Minute {
		t.Errorf("by the API server's clock it is an hour later; the condition is of %v later", ahead)
	}
}
