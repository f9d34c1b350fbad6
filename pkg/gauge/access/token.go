package access

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// leeway is how far the clocks of the node and of the API server may be apart.
const leeway = 5 * time.Minute

// claims are the claims of a JSON Web Token (RFC 7519, section 4.1).
type claims struct {
	Audience audiences `json:"aud"`
	// Expiry is when it expires, in seconds since 1970, or nil where it does not.
	Expiry *float64 `json:"exp"`
}

// audiences are written as one string or as several.
type audiences []string

// UnmarshalJSON takes both.
func (a *audiences) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*a = audiences{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(a))
}

// plausible reports whether the API server could find a token valid for an audience, by the token's own claims, which takes no
// request. A token for an audience of its own is a JSON Web Token, as service accounts have, that names the audience; one for the
// API server, with no audience, may be of any kind. None may have expired. Only the API server can verify the claims.
func plausible(token, audience string, now time.Time) bool {
	said, is := claimsOf(token)
	if !is {
		return audience == ""
	}
	if said.Expiry != nil && *said.Expiry < float64(now.Add(-leeway).Unix()) {
		return false
	}
	return audience == "" || slices.Contains(said.Audience, audience)
}

// claimsOf returns the claims of a token, and whether it is a JSON Web Token at all.
func claimsOf(token string) (said claims, is bool) {
	parts := strings.SplitN(token, ".", 4) // header.payload.signature, and no more
	if len(parts) != 3 {
		return claims{}, false
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(payload, &said) != nil {
		return claims{}, false
	}
	return said, true
}
