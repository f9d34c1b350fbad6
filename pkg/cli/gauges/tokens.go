package gauges

import (
	"context"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"loadline.dev/loadline/pkg/evaluate/installation"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// tokenLife is the shortest that the API server gives.
const tokenLife = 10 * time.Minute

// token is a token of a service account that may read gauges, or why there is none.
type token struct {
	text    string
	expires time.Time
	err     error
}

// lasts reports whether a token is there, and valid for some minutes yet.
func (t *token) lasts() bool { return t.err == nil && time.Until(t.expires) >= tokenLife/2 }

// renewTokens makes tokens of the accounts that pods name, one for each account, unless those of before last. It returns an
// error only if there is a token for none of the pods: the first reason.
func (a *Asker) renewTokens(ctx context.Context, pods []corev1.Pod) error {
	renewed := map[types.NamespacedName]token{}
	for i := range pods {
		account, err := installation.GaugeReader(&pods[i])
		if err != nil {
			continue // tokenFor returns it
		}
		if _, done := renewed[account]; done {
			continue
		}
		t := a.tokens[account]
		if !t.lasts() {
			t = a.newToken(ctx, account)
		}
		renewed[account] = t
	}
	a.tokens = renewed
	var first error
	for i := range pods {
		_, err := a.tokenFor(&pods[i])
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// tokenFor returns the token for the gauge of a pod that renewTokens was called with.
func (a *Asker) tokenFor(pod *corev1.Pod) (string, error) {
	account, err := installation.GaugeReader(pod)
	if err != nil {
		return "", err
	}
	t := a.tokens[account]
	return t.text, t.err
}

// newToken asks the API server for a token of an account, which is good for gauges only.
func (a *Asker) newToken(ctx context.Context, account types.NamespacedName) token {
	of := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: account.Namespace, Name: account.Name}}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		Audiences: []string{usage.Audience}, ExpirationSeconds: new(int64(tokenLife.Seconds())),
	}}
	if err := a.Client.SubResource("token").Create(ctx, of, request); err != nil {
		return token{err: fmt.Errorf("asking for a token of service account %s, which may read gauges: %w", account, err)}
	}
	return token{text: request.Status.Token, expires: request.Status.ExpirationTimestamp.Time}
}
