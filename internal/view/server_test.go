package view_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/heddle-sim/heddle/internal/view"
)

// serve starts a server of the sample, and returns its address with the token, and without.
func serve(t *testing.T, page func() (*view.Page, error)) (url, host string) {
	t.Helper()
	s, err := view.Listen(page)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(10 * time.Second):
			t.Error("the server does not end")
		}
	})
	host = strings.Split(strings.TrimPrefix(s.URL(), "http://"), "/")[0]
	return s.URL(), host
}

func TestServer(t *testing.T) {
	url, host := serve(t, func() (*view.Page, error) { return &view.Page{Results: []view.Result{{Run: sample()}}}, nil })
	at, _, err := net.SplitHostPort(host)
	if ip := net.ParseIP(at); err != nil || ip == nil || !ip.IsLoopback() {
		t.Fatalf("the server listens on %s", host)
	}
	for _, c := range []struct {
		name, method, path string
		header             map[string]string
		code               int
	}{
		{"the page", "GET", url, nil, 200},
		{"its head", "HEAD", url, nil, 200},
		{"from the page itself", "GET", url, map[string]string{"Origin": "http://" + host}, 200},
		{"no token", "GET", "http://" + host + "/", nil, 403},
		{"a wrong token", "GET", "http://" + host + "/AAAAAAAAAAAAAAAAAAAAAAAAAA/", nil, 403},
		{"the token and more", "GET", strings.TrimSuffix(url, "/") + "A/", nil, 403},
		{"another name for this computer", "GET", url, map[string]string{"Host": "localhost" + host[strings.Index(host, ":"):]}, 403},
		{"a name that points here", "GET", url, map[string]string{"Host": "evil.example"}, 403},
		{"no port", "GET", url, map[string]string{"Host": at}, 403},
		{"a page of another place", "GET", url, map[string]string{"Origin": "http://evil.example"}, 403},
		{"a page without a place", "GET", url, map[string]string{"Origin": "null"}, 403},
		{"a page of another server here", "GET", url, map[string]string{"Origin": "http://127.0.0.1:1"}, 403},
		{"writing", "POST", url, nil, 405},
		{"a file", "GET", url + "etc/passwd", nil, 404},
		{"a file above", "GET", url + "..%2f..%2fetc/passwd", nil, 404},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := http.NewRequest(c.method, c.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			for k, v := range c.header {
				r.Header.Set(k, v)
			}
			r.Host = r.Header.Get("Host")
			resp, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			b, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != c.code {
				t.Errorf("status %d, %v; want %d: %s", resp.StatusCode, err, c.code, b[:min(len(b), 200)])
			}
			if page := strings.Contains(string(b), `id="data"`); page != (c.code == 200 && c.method == "GET") {
				t.Errorf("the answer has the page: %v", page)
			}
			if resp.Header.Get("Cache-Control") != "no-store" || resp.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("header %v", resp.Header)
			}
		})
	}
}

// A result that has gone is an error on the page's address, and not the end.
func TestServerFails(t *testing.T) {
	url, _ := serve(t, func() (*view.Page, error) { return nil, errors.New("gone") })
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, _ := io.ReadAll(resp.Body); resp.StatusCode != 500 || !strings.Contains(string(b), "gone") {
		t.Errorf("%d: %s", resp.StatusCode, b)
	}
}
