package access

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"
)

// APIServer is an API server to ask about tokens.
type APIServer struct {
	// Client sends requests as a user who may create TokenReviews and SubjectAccessReviews.
	Client *http.Client
	// URL is where the API server is, such as https://10.0.0.1:443.
	URL *url.URL
}

// NewAPIServer returns the API server that a configuration leads to, to be asked as the user of the configuration.
func NewAPIServer(config *rest.Config) (*APIServer, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	at, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	return &APIServer{Client: client, URL: at}, nil
}

// Judge has the API server decide: it is a Judge.
func (s *APIServer) Judge(ctx context.Context, r Request) (Decision, error) {
	decision, _, err := s.Recognize(ctx, r)
	return decision, err
}

// Recognize has the API server decide, and say whose the token is.
func (s *APIServer) Recognize(ctx context.Context, r Request) (Decision, *User, error) {
	user, err := s.authenticate(ctx, r)
	if err != nil {
		return 0, nil, fmt.Errorf("creating a TokenReview: %w", err)
	}
	if user == nil {
		return Unauthenticated, nil, nil
	}
	allowed, err := s.authorize(ctx, user, &authorizationv1.SubjectAccessReviewSpec{
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: r.Path, Verb: "get"},
	})
	switch {
	case err != nil:
		return 0, nil, err
	case allowed:
		return Allowed, user, nil
	}
	return Forbidden, nil, nil
}

// Resource is a kind of objects.
type Resource struct{ Group, Name string }

// MayList reports whether a user may list the objects of a resource in a namespace, or, where that is empty, in all.
func (s *APIServer) MayList(ctx context.Context, user *User, of Resource, namespace string) (bool, error) {
	return s.authorize(ctx, user, &authorizationv1.SubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "list", Group: of.Group, Version: "*", Resource: of.Name, Namespace: namespace},
	})
}

// authenticate returns the user of a token, or nil if it is not valid.
func (s *APIServer) authenticate(ctx context.Context, r Request) (*User, error) {
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: r.Token}}
	review.APIVersion, review.Kind = authenticationv1.SchemeGroupVersion.String(), "TokenReview"
	if r.Audience != "" {
		review.Spec.Audiences = []string{r.Audience}
	}
	if err := s.create(ctx, "/apis/authentication.k8s.io/v1/tokenreviews", review); err != nil {
		return nil, err
	}
	status := &review.Status
	if !status.Authenticated || status.User.Username == "" {
		return nil, nil
	}
	// An authenticator without audiences returns none: its tokens are the API server's.
	if r.Audience != "" && !slices.Contains(status.Audiences, r.Audience) {
		return nil, nil
	}
	return &status.User, nil
}

// authorize reports whether a user may do what is asked about.
func (s *APIServer) authorize(ctx context.Context, user *User, asked *authorizationv1.SubjectAccessReviewSpec) (bool, error) {
	extra := make(map[string]authorizationv1.ExtraValue, len(user.Extra))
	for name, values := range user.Extra {
		extra[name] = authorizationv1.ExtraValue(values)
	}
	review := &authorizationv1.SubjectAccessReview{Spec: *asked}
	review.Spec.User, review.Spec.UID, review.Spec.Groups, review.Spec.Extra = user.Username, user.UID, user.Groups, extra
	review.APIVersion, review.Kind = authorizationv1.SchemeGroupVersion.String(), "SubjectAccessReview"
	if err := s.create(ctx, "/apis/authorization.k8s.io/v1/subjectaccessreviews", review); err != nil {
		return false, fmt.Errorf("creating a SubjectAccessReview: %w", err)
	}
	return review.Status.Allowed && !review.Status.Denied, nil
}

// maxAnswerBytes is how long an answer of the API server may be.
const maxAnswerBytes = 1 << 20

// create creates a review, and replaces it by the answer. Errors show no part of the request, nor of the answer, which
// repeats it.
func (s *APIServer) create(ctx context.Context, path string, review any) error {
	body, err := json.Marshal(review)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	client := *s.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // tokens go nowhere else
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusCreated && response.StatusCode != http.StatusOK {
		return fmt.Errorf("the API server answers %s", response.Status)
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes))
	if err != nil {
		return err
	}
	if json.Unmarshal(answer, review) != nil {
		return errors.New("the answer of the API server is no such object")
	}
	return nil
}
