package bench_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// systemRoots is where Linux keeps the certificates that a program trusts: a function in Lambda reads as many.
const systemRoots = "/etc/ssl/certs/ca-certificates.crt"

// BenchmarkFirstEvent is a start with a table behind TLS, as AWS's is: ms from the process's begin to its first question for an event, and
// from the event to the answer. STEADFAST_CPU_GROUP may name a folder of a cpu control group (version 1), into which a process
// is put with its first event: so it gets the share of its memory in Lambda, which does not hold while a function starts.
func BenchmarkFirstEvent(b *testing.B) {
	names := []string{"get-task", "get-session", "send-message", "run-turn"}
	dir := b.TempDir()
	compile(b, dir, "", names)
	env := variables(b)
	table, roots := overTLS(b, env["get-task"])
	before, after := map[string][]float64{}, map[string][]float64{}
	for range rounds {
		for _, name := range names {
			vars := append(slices.Clone(env[name]), "AWS_ENDPOINT_URL_DYNAMODB="+table, "SSL_CERT_FILE="+roots)
			asked, answered := firstEvent(b, filepath.Join(dir, name), event(b, name), vars)
			before[name], after[name] = append(before[name], asked), append(after[name], answered)
		}
	}
	for _, name := range names {
		b.Run(name, func(b *testing.B) {
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(before[name]), "ms-to-event")
			b.ReportMetric(median(after[name]), "ms-to-answer")
		})
	}
}

// overTLS puts the table of a local cloud behind TLS, and gives the file with the roots that trust it, among all of the system's.
func overTLS(b *testing.B, env []string) (endpoint, roots string) {
	b.Helper()
	system, err := os.ReadFile(systemRoots)
	if err != nil {
		b.Skip("no roots of a Linux: ", err)
	}
	var cloud *url.URL
	for _, v := range env {
		if text, ok := strings.CutPrefix(v, "AWS_ENDPOINT_URL="); ok {
			cloud, err = url.Parse(text)
		}
	}
	if err != nil || cloud == nil {
		b.Fatal("the cloud's endpoint: ", err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(cloud) }}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, "healthy")
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	chain, root := certificate(b)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{chain}}
	server.StartTLS()
	b.Cleanup(server.Close)
	roots = filepath.Join(b.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, append(system, root...), 0o600); err != nil {
		b.Fatal(err)
	}
	return server.URL, roots
}

// certificate makes one for the loopback interface, signed by a root.
func certificate(b *testing.B) (tls.Certificate, []byte) {
	b.Helper()
	sign := func(c, parent *x509.Certificate, key, by *ecdsa.PrivateKey) []byte {
		c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
		der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, by)
		if err != nil {
			b.Fatal(err)
		}
		return der
	}
	rootKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	root := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "bench"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "table"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	rootDER := sign(root, root, rootKey, rootKey)
	return tls.Certificate{Certificate: [][]byte{sign(leaf, root, key, rootKey)}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: rootDER})
}

// firstEvent starts a program on a Runtime API that has one event. It gives ms from the start to the question for it, and from there to the
// answer.
func firstEvent(b *testing.B, program string, event []byte, env []string) (asked, answered float64) {
	b.Helper()
	pid, question, answer, over := make(chan int, 1), make(chan time.Time, 1), make(chan time.Time, 1), make(chan struct{})
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/next") {
			answer <- time.Now()
			w.WriteHeader(http.StatusAccepted)
			return
		}
		select {
		case id := <-pid:
			question <- time.Now()
			share(b, id)
		case <-over:
			return
		}
		w.Header().Set("Lambda-Runtime-Aws-Request-Id", "00000000-0000-4000-8000-000000000001")
		w.Header().Set("Lambda-Runtime-Deadline-Ms", fmt.Sprint(time.Now().Add(30*time.Second).UnixMilli()))
		w.Header().Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:us-east-1:000000000000:function:bench")
		_, _ = w.Write(event)
	}))
	defer api.Close()
	defer close(over)
	cmd := exec.CommandContext(b.Context(), program)
	cmd.Env = append(env, "AWS_LAMBDA_RUNTIME_API="+strings.TrimPrefix(api.URL, "http://"), "AWS_LAMBDA_FUNCTION_NAME=bench", "AWS_LAMBDA_LOG_LEVEL=ERROR")
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	pid <- cmd.Process.Pid
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	select {
	case at := <-answer:
		first := <-question
		return first.Sub(begun).Seconds() * 1000, at.Sub(first).Seconds() * 1000
	case <-time.After(20 * time.Second):
		b.Fatalf("%s does not answer", program)
		return 0, 0
	}
}

// share puts a process into the control group, if there is one.
func share(b *testing.B, pid int) {
	group := os.Getenv("STEADFAST_CPU_GROUP")
	if group == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o600); err != nil {
		b.Error(err)
	}
}
