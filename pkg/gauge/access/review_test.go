package access

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
)

const (
	tokenReviews  = "/apis/authentication.k8s.io/v1/tokenreviews"
	accessReviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
)

// apiServer answers reviews with statuses, and keeps the last request.
type apiServer struct {
	tokens authenticationv1.TokenReviewStatus
	access authorizationv1.SubjectAccessReviewStatus
	token  authenticationv1.TokenReview
	sar    authorizationv1.SubjectAccessReview
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review any
	switch {
	case r.Method != http.MethodPost:
		http.Error(w, "want POST", http.StatusMethodNotAllowed)
		return
	case r.URL.Path == tokenReviews:
		if err := json.NewDecoder(r.Body).Decode(&s.token); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer := s.token
		answer.Status = s.tokens
		review = answer
	case r.URL.Path == accessReviews:
		if err := json.NewDecoder(r.Body).Decode(&s.sar); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer := s.sar
		answer.Status = s.access
		review = answer
	default:
		http.NotFound(w, r)
		return
	}
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(review)
}

// reach returns a handler as an API server.
func reach(t *testing.T, handler http.Handler) *APIServer {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return &APIServer{Client: server.Client(), URL: at}
}

var (
	user  = authenticationv1.UserInfo{Username: "system:serviceaccount:a:b", UID: "7", Groups: []string{"g"}, Extra: map[string]authenticationv1.ExtraValue{"x": {"y"}}}
	asked = Request{Token: "secret", Audience: "loadline-gauge", Path: "/v1/usage"}
)

func TestTheAPIServerIsAskedAboutTheTokenAndThenAboutItsUser(t *testing.T) {
	t.Parallel()
	s := &apiServer{
		tokens: authenticationv1.TokenReviewStatus{Authenticated: true, User: user, Audiences: []string{"loadline-gauge"}},
		access: authorizationv1.SubjectAccessReviewStatus{Allowed: true},
	}
	if d, err := reach(t, s).Judge(t.Context(), asked); d != Allowed || err != nil {
		t.Fatalf("got %v, %v", d, err)
	}
	if diff := cmp.Diff(authenticationv1.TokenReviewSpec{Token: "secret", Audiences: []string{"loadline-gauge"}}, s.token.Spec); diff != "" {
		t.Errorf("the TokenReview (-want +got):\n%s", diff)
	}
	want := authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, UID: "7", Groups: []string{"g"}, Extra: map[string]authorizationv1.ExtraValue{"x": {"y"}},
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: "/v1/usage", Verb: "get"},
	}
	if diff := cmp.Diff(want, s.sar.Spec); diff != "" {
		t.Errorf("the SubjectAccessReview (-want +got):\n%s", diff)
	}
	if s.token.Kind != "TokenReview" || s.token.APIVersion != "authentication.k8s.io/v1" || s.sar.Kind != "SubjectAccessReview" || s.sar.APIVersion != "authorization.k8s.io/v1" {
		t.Errorf("the kinds are %v and %v", s.token.TypeMeta, s.sar.TypeMeta)
	}
}

func TestOnlyAValidTokenOfTheAudienceAndARightIsAllowed(t *testing.T) {
	t.Parallel()
	valid := authenticationv1.TokenReviewStatus{Authenticated: true, User: user, Audiences: []string{"loadline-gauge"}}
	other := valid
	other.Audiences = []string{"https://kubernetes.default.svc"}
	none := valid
	none.Audiences = nil
	unnamed := valid
	unnamed.User = authenticationv1.UserInfo{}
	tests := map[string]struct {
		tokens authenticationv1.TokenReviewStatus
		access authorizationv1.SubjectAccessReviewStatus
		want   Decision
	}{
		"a wrong token":              {authenticationv1.TokenReviewStatus{Error: "expired"}, authorizationv1.SubjectAccessReviewStatus{Allowed: true}, Unauthenticated},
		"a token of another":         {other, authorizationv1.SubjectAccessReviewStatus{Allowed: true}, Unauthenticated},
		"a token without audiences":  {none, authorizationv1.SubjectAccessReviewStatus{Allowed: true}, Unauthenticated},
		"a user without a name":      {unnamed, authorizationv1.SubjectAccessReviewStatus{Allowed: true}, Unauthenticated},
		"a user without the right":   {valid, authorizationv1.SubjectAccessReviewStatus{}, Forbidden},
		"a right that is taken away": {valid, authorizationv1.SubjectAccessReviewStatus{Allowed: true, Denied: true}, Forbidden},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d, err := reach(t, &apiServer{tokens: test.tokens, access: test.access}).Judge(t.Context(), asked); d != test.want || err != nil {
				t.Errorf("got %v, %v, want %v", d, err, test.want)
			}
		})
	}
}

func TestTheAudienceOfTheAPIServerNeedsNoName(t *testing.T) {
	t.Parallel()
	s := &apiServer{tokens: authenticationv1.TokenReviewStatus{Authenticated: true, User: user}, access: authorizationv1.SubjectAccessReviewStatus{Allowed: true}}
	d, err := reach(t, s).Judge(t.Context(), Request{Token: "secret", Path: "/metrics"})
	if d != Allowed || err != nil || s.token.Spec.Audiences != nil {
		t.Errorf("got %v, %v, asked for the audiences %q", d, err, s.token.Spec.Audiences)
	}
}

func TestAnAPIServerThatFailsDecidesNothingAndNoErrorShowsTheToken(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the token went elsewhere") }))
	t.Cleanup(elsewhere.Close)
	answer := func(status int, body string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		})
	}
	tests := map[string]struct {
		handler http.Handler
		want    string
	}{
		"that forbids":                {answer(http.StatusForbidden, "secret"), "creating a TokenReview: the API server answers 403 Forbidden"},
		"that is overloaded":          {answer(http.StatusTooManyRequests, ""), "429"},
		"whose answer is no JSON":     {answer(http.StatusCreated, "secret"), "no such object"},
		"whose answer is too long":    {answer(http.StatusCreated, `{"kind": "`+strings.Repeat("secret", maxAnswerBytes)), "no such object"},
		"that sends to somewhere":     {http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect), "307"},
		"that breaks the connection":  {http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }), "creating a TokenReview"},
		"that does not know accesses": {onlyTokens(), "creating a SubjectAccessReview: the API server answers 404"},
	}
	for name, test := range tests {
		t.Run("one "+name, func(t *testing.T) {
			t.Parallel()
			d, err := reach(t, test.handler).Judge(t.Context(), asked)
			if d != 0 || err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("got %v, %v, want an error with %q", d, err, test.want)
			}
		})
	}
}

// onlyTokens is an API server without SubjectAccessReviews.
func onlyTokens() http.Handler {
	mux := http.NewServeMux()
	mux.Handle(tokenReviews, &apiServer{tokens: authenticationv1.TokenReviewStatus{Authenticated: true, User: user, Audiences: []string{"loadline-gauge"}}})
	return mux
}
