package view_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heddle-sim/heddle/internal/view"
)

// serveLive starts a server of a run, and returns its address with the token, and without.
func serveLive(t *testing.T, l *view.Live) (url, host string) {
	t.Helper()
	s, err := view.ListenLive(l)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s.URL(), strings.Split(strings.TrimPrefix(s.URL(), "http://"), "/")[0]
}

func TestLiveServer(t *testing.T) {
	var stopped atomic.Int32
	live := view.NewLive(t.Context(), "a job", func() { stopped.Add(1) })
	url, host := serveLive(t, live)
	own := map[string]string{"Origin": "http://" + host}
	for _, c := range []struct {
		name, method, path string
		header             map[string]string
		code               int
	}{
		{"the page", "GET", url, nil, 200},
		{"events of a wrong token", "GET", "http://" + host + "/AAAAAAAAAAAAAAAAAAAAAAAAAA/events", nil, 403},
		{"events without a token", "GET", "http://" + host + "/events", nil, 403},
		{"events for a name that points here", "GET", url + "events", map[string]string{"Host": "evil.example"}, 403},
		{"events for a page of another place", "GET", url + "events", map[string]string{"Origin": "http://evil.example"}, 403},
		{"writing events", "POST", url + "events", own, 405},
		{"stopping by reading", "GET", url + "stop", own, 405},
		{"stopping with a wrong token", "POST", "http://" + host + "/AAAAAAAAAAAAAAAAAAAAAAAAAA/stop", own, 403},
		{"stopping by a form of another place", "POST", url + "stop", map[string]string{"Origin": "http://evil.example"}, 403},
		{"stopping by a page without a place", "POST", url + "stop", map[string]string{"Origin": "null"}, 403},
		{"stopping under another name", "POST", url + "stop", map[string]string{"Host": "evil.example", "Origin": "http://evil.example"}, 403},
		{"stopping without an origin", "POST", url + "stop", nil, 403},
		{"recording without an SM", "POST", url + "record?cycles=5", own, 400},
		{"recording cycles that are no number", "POST", url + "record?sm=1&cycles=-5", own, 400},
		{"recording by a form of another place", "POST", url + "record?sm=1&cycles=5", map[string]string{"Origin": "http://evil.example"}, 403},
		{"writing the page", "POST", url, own, 405},
		{"a file", "GET", url + "etc/passwd", nil, 404},
		{"below the events", "GET", url + "events/", nil, 404},
	} {
		t.Run(c.name, func(t *testing.T) {
			if code, text := ask(t, c.method, c.path, c.header); code != c.code {
				t.Errorf("status %d, want %d: %.200s", code, c.code, text)
			}
		})
	}
	if n := stopped.Load(); n != 0 {
		t.Fatalf("the run was stopped %d times by those who must not", n)
	}
	for range 2 {
		if code, text := ask(t, "POST", url+"stop", own); code != 204 {
			t.Errorf("the page itself cannot stop the run: %d, %s", code, text)
		}
	}
	if n := stopped.Load(); n != 1 {
		t.Errorf("the run was stopped %d times, want once", n)
	}
	still, _ := serve(t, func() (*view.Page, error) { return &view.Page{Results: []view.Result{{Run: sample()}}}, nil })
	for _, path := range []string{"events", "stop"} {
		if code, _ := ask(t, "GET", still+path, nil); code != 404 {
			t.Errorf("a page of results has %s: %d", path, code)
		}
	}
}

// ask sends a request, and returns the status and the text of the answer.
func ask(t *testing.T, method, url string, header map[string]string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range header {
		r.Header.Set(k, v)
	}
	r.Host = r.Header.Get("Host")
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// event is one of a stream.
type event struct{ kind, data string }

// follow reads the events of a page until the server ends them.
func follow(t *testing.T, url string) <-chan event {
	t.Helper()
	resp, err := http.Get(url + "events")
	if err != nil || resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%v, %v", resp, err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	list := make(chan event, 100)
	go func() {
		defer close(list)
		var e event
		in := bufio.NewScanner(resp.Body)
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			switch line := in.Text(); {
			case line == "":
				list <- e
			case strings.HasPrefix(line, "event: "):
				e.kind = line[len("event: "):]
			default:
				e.data = strings.TrimPrefix(line, "data: ")
			}
		}
	}()
	return list
}

// state returns the next state, and the results that came before it, packed.
func state(t *testing.T, list <-chan event) (s view.State, page string) {
	t.Helper()
	for {
		select {
		case e := <-list:
			if e.kind == "page" {
				page = e.data
				continue
			}
			if err := json.Unmarshal([]byte(e.data), &s); err != nil {
				t.Fatalf("%q: %v", e, err)
			}
			return s, page
		case <-time.After(10 * time.Second):
			t.Fatal("no event")
		}
	}
}

// A reader gets states, the results so far only when they are due, and the final result.
func TestLiveEvents(t *testing.T) {
	live := view.NewLive(t.Context(), "a job", func() {})
	url, _ := serveLive(t, live)
	made := 0
	look := func() {
		if _, err := live.Look(func() (*view.Page, error) {
			made++
			return &view.Page{Results: []view.Result{{Run: sample()}}}, nil
		}); err != nil {
			t.Error(err)
		}
	}
	look()
	if made != 0 {
		t.Error("a result is made though nobody looks")
	}
	list := follow(t, url)
	if s, page := state(t, list); s.Is != view.Runs || s.Done || s.Input != "a job" || page != "" {
		t.Errorf("the first state is %+v with results %q", s, page)
	}
	look()
	look()
	if made != 1 {
		t.Errorf("%d results were made at once, want one", made)
	}
	live.Show(view.State{Share: 0.5, Kernel: "k", Blocks: 2, Total: 4, Cycles: 100})
	s, page := state(t, list)
	for s.Kernel == "" { // results and state may come apart
		var p string
		s, p = state(t, list)
		page += p
	}
	if s.Share != 0.5 || s.Blocks != 2 || s.Cycles != 100 || s.Seconds <= 0 || s.Left <= 0 || page == "" {
		t.Errorf("the state is %+v with results of %d bytes", s, len(page))
	}
	if err := live.End(&view.Page{Results: []view.Result{{Run: sample()}, {Run: sample()}}}); err != nil {
		t.Fatal(err)
	}
	for s, page = state(t, list); !s.Done; s, page = state(t, list) {
	}
	if s.Is != view.Ended || s.Left != 0 || page == "" {
		t.Errorf("the last state is %+v with results of %d bytes", s, len(page))
	}
	_, html := ask(t, "GET", url, nil)
	if !strings.Contains(html, page) || !strings.Contains(html, "connect-src 'self'; base-uri") || !strings.Contains(html, `id="app" data-live>`) {
		t.Error("the page lacks the final result, or may not ask its server")
	}
}

// A paused run waits at its next look with the result shown, makes a step on demand, and goes on when it is
// told, stopped or interrupted.
func TestLivePause(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(l *view.Live, cancel func())
		is   string
	}{
		{"goes on", func(l *view.Live, _ func()) { l.Continue() }, view.Runs},
		{"is stopped", func(l *view.Live, _ func()) { l.Stop() }, view.Stopped},
		{"is interrupted", func(_ *view.Live, cancel func()) { cancel() }, view.Paused},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			live := view.NewLive(ctx, "a job", func() {})
			url, host := serveLive(t, live)
			looked := make(chan int)
			var made atomic.Int32
			var wish atomic.Pointer[view.Range]
			next := make(chan bool)
			go func() {
				for n := 0; ; n++ {
					r, _ := live.Look(func() (*view.Page, error) {
						made.Add(1)
						return &view.Page{Results: []view.Result{{Run: sample()}}}, nil
					})
					wish.Store(r)
					looked <- n
					if !<-next {
						return
					}
				}
			}()
			press := func(what string) {
				t.Helper()
				if code, text := ask(t, "POST", url+what, map[string]string{"Origin": "http://" + host}); code != 204 {
					t.Fatalf("%s: %d, %s", what, code, text)
				}
			}
			waits := func() {
				t.Helper()
				select {
				case <-looked:
					t.Fatal("the run does not wait")
				case <-time.After(50 * time.Millisecond):
				}
			}
			<-looked // it runs
			press("pause")
			next <- true
			waits()
			if n := made.Load(); n != 1 {
				t.Errorf("%d results were made for the pause, want one, though nobody looks", n)
			}
			press("step")
			<-looked
			next <- true
			waits()
			if n := made.Load(); n != 2 {
				t.Errorf("%d results were made after a step, want 2", n)
			}
			press("record?sm=1&cycles=500")
			<-looked
			if r := wish.Load(); r == nil || *r != (view.Range{SM: 1, Cycles: 500}) {
				t.Errorf("the run shall record %+v", r)
			}
			next <- true
			waits()
			c.end(live, cancel)
			<-looked
			if r := wish.Load(); r != nil {
				t.Errorf("the run shall record %+v again", r)
			}
			next <- false
			if s, _ := state(t, follow(t, url)); s.Is != c.is || !s.Holds {
				t.Errorf("the run is %+v, want %s", s, c.is)
			}
		})
	}
}
