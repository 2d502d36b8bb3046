package cloud

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/steadfast-agents/steadfast/internal/cloud/gateway"
)

// listeners are the two doors: the public one for HTTP and WebSocket clients, the AWS one for functions and tools.
type listeners struct {
	public, aws       net.Listener
	publicURL, awsURL string // without a slash at the end
	servers           []*http.Server
}

func listen(public, aws string) (*listeners, error) {
	l := &listeners{}
	var err error
	if l.public, err = listenOn(public); err != nil {
		return nil, err
	}
	if l.aws, err = listenOn(aws); err != nil {
		return nil, errors.Join(err, l.public.Close())
	}
	l.publicURL, l.awsURL = urlOf(l.public), urlOf(l.aws)
	return l, nil
}

func listenOn(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("the address %s is in use: another local cloud runs there, or another program; choose another address", address)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	return l, nil
}

// urlOf gives an address that this machine reaches; a listener on every interface is reached through the loopback one.
func urlOf(l net.Listener) string {
	host, port, err := net.SplitHostPort(l.Addr().String())
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// rewrite maps addresses of AWS that the template names to our own.
func (l *listeners) rewrite(s string) string {
	rest, ok := strings.CutPrefix(s, "https://")
	if !ok {
		return s
	}
	host, path, slash := strings.Cut(rest, "/")
	if slash {
		path = "/" + path
	}
	if strings.HasSuffix(host, ".amazonaws.com") && (strings.HasPrefix(host, "cognito-idp.") || strings.Contains(host, ".execute-api.")) {
		return l.publicURL + path
	}
	if function, _, ok := strings.Cut(host, ".lambda-url."); ok && strings.HasSuffix(host, ".on.aws") {
		return l.publicURL + gateway.URLPath + function + path
	}
	return s
}

func (l *listeners) serve(public, aws http.Handler, failed func(error)) {
	for _, door := range []struct {
		listener net.Listener
		server   *http.Server
	}{
		{l.public, &http.Server{Handler: public, MaxHeaderBytes: gateway.MaxHTTPHeader, ReadHeaderTimeout: 10 * time.Second}},
		{l.aws, &http.Server{Handler: aws, ReadHeaderTimeout: 10 * time.Second, Protocols: awsProtocols()}},
	} {
		l.servers = append(l.servers, door.server)
		go func() {
			if err := door.server.Serve(door.listener); !errors.Is(err, http.ErrServerClosed) {
				failed(err)
			}
		}()
	}
}

// awsProtocols are HTTP/1.1, and HTTP/2 without TLS, which some SDKs insist on for the model (JavaScript's does).
func awsProtocols() *http.Protocols {
	p := &http.Protocols{}
	p.SetHTTP1(true)
	p.SetUnencryptedHTTP2(true)
	return p
}

// close stops listening and waits for answers under way until ctx is over.
func (l *listeners) close(ctx context.Context) error {
	if l == nil {
		return nil
	}
	if len(l.servers) == 0 {
		return errors.Join(l.public.Close(), l.aws.Close())
	}
	for _, s := range l.servers {
		if s.Shutdown(ctx) != nil {
			_ = s.Close() // it has waited long enough
		}
	}
	return nil
}
