// Package live carries a run that goes on in the process of a CUDA program to the process that
// shows it, through a socket: its progress, and its results so far when they are wanted. The
// program waits for an answer before it goes on, and so can be paused and stopped.
//
// It shows nothing itself.
package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/run"
)

// message is what a program sends: how far it is, or the result so far that it was asked for.
type message struct {
	Progress *run.Progress `json:"progress,omitempty"`
	Result   *report.Run   `json:"result,omitempty"`
}

// answer is what the program shall do: one of the words below, and when it goes on, record a range of
// cycles, if that is not nil.
type answer struct {
	Do   string    `json:"do"`
	Wish *run.Wish `json:"record,omitempty"`
}

// The words.
const (
	goOn = "go on"
	show = "show" // send the result so far
	stop = "stop"
)

// Program is the end of a program.
type Program struct {
	conn net.Conn
	to   *json.Encoder
	from *json.Decoder
	last run.Progress
	stop func()
	gone bool // nobody looks any more
}

// Dial connects a program with who shows it; stop is called if that wants the program to end.
func Dial(path string, stop func()) (*Program, error) {
	conn, err := net.Dial("unix", path)
	if err != nil {
		return nil, fmt.Errorf("connecting with the page: %w", err)
	}
	return &Program{conn: conn, to: json.NewEncoder(conn), from: json.NewDecoder(conn), stop: stop}, nil
}

// Progress notes how far the run is; it is an option of a run.
func (p *Program) Progress(s run.Progress) { p.last = s }

// Look lets the run be looked at, and returns when it shall go on, with what it shall record; it is
// an option of a run. If who looked has gone, the run goes on as without.
func (p *Program) Look(soFar func() *report.Run) *run.Wish {
	m := message{Progress: &p.last}
	for !p.gone {
		var a answer
		if err := errors.Join(p.to.Encode(m), p.from.Decode(&a)); err != nil {
			p.gone = true
			_ = p.conn.Close()
			return nil
		}
		switch a.Do {
		case goOn:
			return a.Wish
		case stop:
			p.gone = true
			p.stop()
			return nil
		}
		m = message{Result: soFar()}
	}
	return nil
}

// Viewer is who shows programs. Its functions are called concurrently if there are several.
type Viewer struct {
	// Progress is called with how far a program is.
	Progress func(run.Progress)
	// Look is called after that, with the program's number from 0 in the order in which they
	// began. The program waits until it returns, and records what it returns unless that is nil;
	// soFar asks it for its result so far.
	Look func(program int, soFar func() (*report.Run, error)) *run.Wish
	// Stopped reports whether programs shall end.
	Stopped func() bool
}

// Server is the end of the viewer.
type Server struct {
	listener net.Listener
	mutex    sync.Mutex
	open     []net.Conn
	closed   bool
	ended    sync.WaitGroup
}

// Listen waits for programs at a path, which must be in a folder that only this user can enter.
func Listen(path string, v Viewer) (*Server, error) {
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("no socket for the program's results: %w; if the path is too long, set TMPDIR to a shorter one", err)
	}
	s := &Server{listener: l}
	s.ended.Go(func() {
		for n := 0; ; n++ {
			conn, err := l.Accept()
			if err != nil || !s.keep(conn) {
				return
			}
			s.ended.Go(func() {
				defer conn.Close()
				serve(conn, n, v)
			})
		}
	})
	return s, nil
}

// keep keeps a connection until Close; false if the server has been closed.
func (s *Server) keep(conn net.Conn) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed {
		_ = conn.Close()
		return false
	}
	s.open = append(s.open, conn)
	return true
}

// Close ends all connections; programs that still run go on without. It returns when no function
// of the viewer runs any more.
func (s *Server) Close() {
	s.mutex.Lock()
	s.closed = true
	_ = s.listener.Close()
	for _, c := range s.open {
		_ = c.Close()
	}
	s.mutex.Unlock()
	s.ended.Wait()
}

// serve shows a program until it ends.
func serve(conn net.Conn, number int, v Viewer) {
	to, from := json.NewEncoder(conn), json.NewDecoder(conn)
	for {
		var m message
		if from.Decode(&m) != nil || m.Progress == nil {
			return
		}
		v.Progress(*m.Progress)
		wish := v.Look(number, func() (*report.Run, error) {
			var m message
			if err := errors.Join(to.Encode(answer{Do: show}), from.Decode(&m)); err != nil {
				return nil, fmt.Errorf("the program has not sent its result so far: %w", err)
			}
			if m.Result == nil {
				return nil, errors.New("the program has sent something else than its result so far")
			}
			return m.Result, nil
		})
		a := answer{Do: goOn, Wish: wish}
		if v.Stopped() {
			a = answer{Do: stop}
		}
		if to.Encode(a) != nil {
			return
		}
	}
}
