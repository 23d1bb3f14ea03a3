package view

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
)

// This file: the page from a server on this computer.
//
// Other programs and other users of the computer, and pages of other places in the browser, must
// not get at the results: the server listens on the loopback address only; its address has a
// random part; and it answers only requests whose Host is its own address, so that a name that
// someone points at this computer (DNS rebinding) is of no use, and whose Origin, if there is
// one, is its own page.

// Server serves a page.
type Server struct {
	listener net.Listener
	host     string // address and port
	token    string
	page     func() (*Page, error)
	live     *Live // nil: the page does not change by itself
}

// Listen prepares a server on a free port of this computer. The function is called for every
// view of the page, so that a reload shows what has changed.
func Listen(page func() (*Page, error)) (*Server, error) {
	return listen(&Server{page: page})
}

// ListenLive prepares a server of a run that goes on.
func ListenLive(l *Live) (*Server, error) { return listen(&Server{live: l}) }

// listen opens the server's port.
func listen(s *Server) (*Server, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("no port of this computer can be opened for the page: %w", err)
	}
	s.listener, s.host, s.token = l, l.Addr().String(), rand.Text()
	return s, nil
}

// URL is the address of the page.
func (s *Server) URL() string { return "http://" + s.host + "/" + s.token + "/" }

// Serve answers requests until the context ends, and closes the server.
func (s *Server) Serve(ctx context.Context) error {
	h := http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	stop := context.AfterFunc(ctx, func() { _ = h.Close() })
	defer stop()
	if err := h.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the page: %w", err)
	}
	return nil
}

// refused returns why a request is not answered, and "" if it is.
func (s *Server) refused(r *http.Request) (int, string) {
	origin := r.Header.Get("Origin")
	token, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	action := actions[rest]
	switch {
	case r.Host != s.host:
		return http.StatusForbidden, "this server answers only under its own address"
	case origin != "" && origin != "http://"+s.host:
		return http.StatusForbidden, "this server answers only its own page"
	case subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) != 1:
		return http.StatusForbidden, "the address is incomplete; open the one that heddle view printed"
	case rest != "" && (s.live == nil || rest != eventsPath && action == nil):
		return http.StatusNotFound, "there is only the page"
	case action != nil && r.Method == http.MethodPost && origin == "": // browsers send it
		return http.StatusForbidden, "only the page stops the run or makes it wait"
	case (r.Method == http.MethodPost) != (action != nil) || r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost:
		return http.StatusMethodNotAllowed, "the page can only be read"
	}
	return 0, ""
}

// The paths of a live page below its address: what changes, and what its buttons do.
const eventsPath = "events"

var actions = map[string]func(*Live, url.Values) error{
	"stop": button((*Live).Stop), "pause": button((*Live).Pause), "continue": button((*Live).Continue), "step": button((*Live).Step), "record": record,
}

// button is an action without values.
func button(press func(*Live)) func(*Live, url.Values) error {
	return func(l *Live, _ url.Values) error {
		press(l)
		return nil
	}
}

// record makes the run record cycles of an SM.
func record(l *Live, q url.Values) error {
	sm, err := strconv.ParseUint(q.Get("sm"), 10, 31)
	cycles, err2 := strconv.ParseUint(q.Get("cycles"), 10, 32)
	if err := errors.Join(err, err2); err != nil {
		return fmt.Errorf("recording needs the number of an SM and of cycles, as in record?sm=0&cycles=500: %w", err)
	}
	l.Record(Range{SM: int(sm), Cycles: cycles})
	return nil
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for key, value := range map[string]string{
		"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
		"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin", "Content-Security-Policy": "frame-ancestors 'none'",
	} {
		w.Header().Set(key, value)
	}
	if code, why := s.refused(r); code != 0 {
		http.Error(w, why, code)
		return
	}
	switch {
	case strings.HasSuffix(r.URL.Path, "/"+eventsPath) && r.Method == http.MethodGet:
		s.live.events(w, r)
		return
	case r.Method == http.MethodPost:
		if err := actions[path.Base(r.URL.Path)](s.live, r.URL.Query()); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusNoContent)
		return
	}
	var b bytes.Buffer
	err := s.write(&b)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(b.Bytes()) // the reader may have gone
}

// write writes the page.
func (s *Server) write(b *bytes.Buffer) error {
	if s.live != nil {
		return s.live.writeHTML(b)
	}
	p, err := s.page()
	if err != nil {
		return err
	}
	return p.WriteHTML(b)
}
