package identity_test

import (
	"fmt"
	"testing"

	"github.com/steadfast-agents/steadfast/core/identity"
)

func TestP16TokenFrom(t *testing.T) {
	const scheme = identity.Scheme
	offer := identity.Subprotocol("sub.pro.tocol")
	type headers = map[string]string
	type multi = map[string][]string
	tests := []struct {
		name      string
		headers   headers
		multi     multi
		query     map[string]string
		wantToken string
		wantEcho  string
	}{
		{name: "nothing at all"},
		{name: "header", headers: headers{"Authorization": "Bearer a.b.c"}, wantToken: "a.b.c"},
		{name: "header in lower case", headers: headers{"authorization": "bearer a.b.c"}, wantToken: "a.b.c"},
		{name: "header in capitals with blanks", headers: headers{"AUTHORIZATION": "  BEARER   a.b.c  "}, wantToken: "a.b.c"},
		{name: "header with another scheme", headers: headers{"Authorization": "Basic YTpi"}},
		{name: "header with another scheme, and a query", headers: headers{"Authorization": "Basic YTpi"}, query: headers{"token": "q"}, wantToken: "q"},
		{name: "bearer of nothing", headers: headers{"Authorization": "Bearer "}},
		{name: "bearer of two words", headers: headers{"Authorization": "Bearer a b"}},
		{name: "subprotocol, scheme first", headers: headers{"Sec-WebSocket-Protocol": scheme + ", " + offer}, wantToken: "sub.pro.tocol", wantEcho: scheme},
		{name: "subprotocol, token first, no blank", headers: headers{"sec-websocket-protocol": offer + "," + scheme}, wantToken: "sub.pro.tocol", wantEcho: scheme},
		{name: "blanks everywhere", headers: headers{"Sec-WebSocket-Protocol": " , " + scheme + "  ,\t" + offer + " ,"}, wantToken: "sub.pro.tocol", wantEcho: scheme},
		{name: "sent twice, all values", multi: multi{"Sec-WebSocket-Protocol": {scheme, offer}}, headers: headers{"Sec-WebSocket-Protocol": offer}, wantToken: "sub.pro.tocol", wantEcho: scheme},
		{name: "sent twice in two spellings", multi: multi{"Sec-WebSocket-Protocol": {scheme}, "sec-websocket-protocol": {offer}}, wantToken: "sub.pro.tocol", wantEcho: scheme},
		{name: "scheme in capitals is echoed as offered", headers: headers{"Sec-WebSocket-Protocol": "BASE64URLBEARERAUTHORIZATION, " + offer}, wantToken: "sub.pro.tocol", wantEcho: "BASE64URLBEARERAUTHORIZATION"},
		{name: "token with padding", headers: headers{"Sec-WebSocket-Protocol": scheme + ", " + scheme + ".YS5iLmM9PQ==, x"}, wantToken: "a.b.c==", wantEcho: scheme},
		{name: "token without the scheme beside it", headers: headers{"Sec-WebSocket-Protocol": offer}, wantToken: "sub.pro.tocol"},
		{name: "scheme without a token", headers: headers{"Sec-WebSocket-Protocol": scheme}, wantEcho: scheme},
		{name: "scheme, token in the query", headers: headers{"Sec-WebSocket-Protocol": scheme}, query: headers{"token": "q"}, wantToken: "q", wantEcho: scheme},
		{name: "other protocols only", headers: headers{"Sec-WebSocket-Protocol": "graphql-ws, mqtt"}, query: headers{"token": "q"}, wantToken: "q"},
		{name: "protocol that only begins like the scheme", headers: headers{"Sec-WebSocket-Protocol": scheme + "X, " + scheme + "X.YQ"}},
		{name: "unreadable offer is not replaced by the query", headers: headers{"Sec-WebSocket-Protocol": scheme + ", " + scheme + ".!!"}, query: headers{"token": "q"}, wantEcho: scheme},
		{name: "header wins over subprotocol, which is still echoed", headers: headers{"Authorization": "Bearer a.b.c", "Sec-WebSocket-Protocol": scheme + ", " + offer}, query: headers{"token": "q"}, wantToken: "a.b.c", wantEcho: scheme},
		{name: "subprotocol wins over query", headers: headers{"Sec-WebSocket-Protocol": scheme + ", " + offer}, query: headers{"token": "q"}, wantToken: "sub.pro.tocol", wantEcho: scheme},
		{name: "query", query: headers{"token": " q "}, wantToken: "q"},
		{name: "query in another spelling", query: headers{"Token": "q"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			token, echo := identity.TokenFrom(tt.headers, tt.multi, tt.query)
			if token != tt.wantToken || echo != tt.wantEcho {
				t.Errorf("TokenFrom(...) = %q, %q, want %q, %q", token, echo, tt.wantToken, tt.wantEcho)
			}
		})
	}
}

func ExampleTokenFrom() {
	headers := map[string]string{"Sec-WebSocket-Protocol": identity.Scheme + ", " + identity.Subprotocol("header.claims.signature")}
	token, echo := identity.TokenFrom(headers, nil, nil)
	fmt.Println(token)
	fmt.Println(echo)
	// Output:
	// header.claims.signature
	// base64UrlBearerAuthorization
}
