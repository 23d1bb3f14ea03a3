package run

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/internal/checkpoint"
	"github.com/heddle-sim/heddle/internal/config"
	"github.com/heddle-sim/heddle/internal/gpu"
	"github.com/heddle-sim/heddle/internal/report"
)

// This file: checkpoints, from which a run goes on as if it had not ended. They are made between launches, when the chip
// is idle.

// Checkpoint asks for checkpoints, or for going on from one.
type Checkpoint struct {
	// File gets the checkpoints, "" for none: each takes the place of the one before. {launch} in it stands for the number
	// of launches that have ended, so that all are kept.
	File string
	// Every is the number of launches from one to the next. If launches overlap then, it is made when none runs.
	Every int
	// Resume is the checkpoint to go on from; "" begins at the start.
	Resume string
	// Content is the digest of the files that the run reads, apart from the machine's.
	Content string
}

// launchMark is what stands for the number of launches in the name of a file.
const launchMark = "{launch}"

// Resumable is the part of a work's state that a checkpoint keeps beside the session's.
type Resumable interface {
	Save(e *checkpoint.Encoder) error
	Load(d *checkpoint.Decoder) error
}

// checkpoints are the checkpoints of a session.
type checkpoints struct {
	Checkpoint
	header checkpoint.Header
	work   Resumable
	since  int // launches that have ended since the last one
}

// identify says what the checkpoints of a run on a machine belong to.
func (s *Session) identify(name string) error {
	o := &s.opt
	g, err := o.Settings.GPUOf(name)
	if err != nil {
		return err
	}
	h := checkpoint.Header{Heddle: report.Version, GPU: name, Input: s.Res.Input, Content: o.Checkpoint.Content}
	if h.Build, err = checkpoint.Build(); err != nil {
		return fmt.Errorf("a checkpoint names the program that wrote it, which cannot be read: %w", err)
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s %s %d %d\n", g.Name, g.Core, o.Settings.Memory, o.Settings.Heap)
	for _, k := range config.Keys() {
		if v, ok := g.Value(k.Name); ok {
			fmt.Fprintf(sum, "%s=%s\n", k.Name, v)
		}
	}
	for _, k := range slices.Sorted(keys(o.Settings.Conditions)) {
		fmt.Fprintf(sum, "%s=%v\n", k, o.Settings.Conditions[k])
	}
	fmt.Fprintf(sum, "code %q kernels %q\n", o.Code, o.Select)
	if o.Series != nil {
		fmt.Fprintf(sum, "series %d\n", o.Series.Every)
	}
	if o.Sample != nil {
		fmt.Fprintf(sum, "sample %+v\n", *o.Sample)
	}
	h.Machine = fmt.Sprintf("%x", sum.Sum(nil))
	s.kept = &checkpoints{Checkpoint: *o.Checkpoint, header: h}
	return nil
}

// keys iterates over the keys of a map.
func keys[V any](m map[string]V) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// Keep makes the checkpoints that the options ask for while the run goes on, and first goes on from the one that they
// name. The work has given the chip all that it gives before the first cycle.
func (s *Session) Keep(work Resumable) error {
	k := s.kept
	if k == nil {
		return nil
	}
	k.work = work
	if k.File != "" {
		s.Chip.OnIdle(s.checkpoint)
	}
	if k.Resume == "" {
		return nil
	}
	return checkpoint.Read(k.Resume, k.header, func(h checkpoint.Header, r io.Reader) error {
		k.header.Launches = h.Launches
		d := checkpoint.NewDecoder(r, gpu.StateRules())
		for _, part := range []func(*checkpoint.Decoder) error{s.load, s.Chip.Load, work.Load} {
			if err := part(d); err != nil {
				return err
			}
		}
		return d.End()
	})
}

// checkpoint writes a checkpoint if it is time. The chip is idle.
func (s *Session) checkpoint() error {
	k := s.kept
	if k.since < k.Every {
		return nil
	}
	k.since, k.header.Cycle = 0, s.Chip.Now()
	file := strings.ReplaceAll(k.File, launchMark, strconv.Itoa(k.header.Launches))
	err := checkpoint.Write(file, k.header, func(w io.Writer) error {
		e := checkpoint.NewEncoder(w, gpu.StateRules())
		for _, part := range []func(*checkpoint.Encoder) error{s.save, s.Chip.Save, k.work.Save} {
			if err := part(e); err != nil {
				return err
			}
		}
		return e.Flush()
	})
	if err != nil {
		return fmt.Errorf("writing the checkpoint %s: %w", file, err)
	}
	return nil
}

// state are the values of the session that a checkpoint keeps.
func (s *Session) state() []any {
	r := s.Res
	list := []any{&r.Kernels, &r.WarpInstructions, &r.ThreadInstructions, &r.Dependences, &s.Passed, &s.Unlisted}
	if s.sampler != nil {
		list = append(list, s.sampler)
	}
	if s.rows != nil {
		list = append(list, &s.rows.last)
	}
	return list
}

func (s *Session) save(e *checkpoint.Encoder) error {
	for _, x := range s.state() {
		if err := e.Encode(x); err != nil {
			return err
		}
	}
	if s.rows == nil {
		return nil
	}
	if err := s.rows.w.Flush(); err != nil {
		return err
	}
	text := s.rows.text.Bytes()
	return e.Encode(&text)
}

func (s *Session) load(d *checkpoint.Decoder) error {
	for _, x := range s.state() {
		if err := d.Decode(x); err != nil {
			return err
		}
	}
	if s.rows == nil {
		return nil
	}
	var text []byte
	if err := d.Decode(&text); err != nil {
		return err
	}
	return s.rows.resume(text)
}

// resume writes the rows of the run that goes on.
func (x *Rows) resume(text []byte) error {
	if err := x.w.Flush(); err != nil {
		return err
	}
	rest, ok := bytes.CutPrefix(text, x.text.Bytes())
	if !ok {
		return fmt.Errorf("its series of counters has other columns")
	}
	_, err := x.w.Write(rest)
	return err
}

// Past ends an action that ended in the run that goes on.
func (s *Session) Past(op *gpu.Op, start, end uint64) {
	s.open = slices.DeleteFunc(s.open, func(l *Launch) bool { return l.op == op })
	s.Chip.Past(op, start, end)
}
