package job

import (
	"fmt"
	"image/color"
	"slices"

	"github.com/heddle-sim/heddle/internal/core/kepler"
	"github.com/heddle-sim/heddle/internal/report/lesson"
	"github.com/heddle-sim/heddle/internal/work/krun"
)

// This file: frames step by step and as pictures, for a page.

// learn has a frame recorded step by step while there is room.
func (x *keplerRunner) learn(r *krun.Run, frame int) {
	if !x.opt.Page || x.steps == 0 || r.Core.Config().Chip.Wanted() {
		return
	}
	r.Lesson = lesson.NewRecorder(x.steps)
	r.Lesson.Launch, r.Lesson.Kernel = frame, x.ready.name()
	for _, d := range x.ready.Job.Buffers {
		if p := x.ready.Job.places[d.Name]; !p.shared {
			r.Lesson.Buffers = append(r.Lesson.Buffers, lesson.Buffer{Name: d.Name, Addr: uint64(p.at), Bytes: uint64(len(x.ready.contents[d.Name])), Type: d.Type.String()})
		}
	}
	for _, m := range x.ready.Job.Images {
		s := x.ready.screen(m)
		s.First = x.ready.Bytes(r.Core, m.Buffer.S)[:m.bytes()]
		if !slices.ContainsFunc(s.First, func(b byte) bool { return b != 0 }) {
			s.First = nil
		}
		r.Lesson.Screens = append(r.Lesson.Screens, s)
	}
}

// learned adds what was recorded of a frame to the result.
func (x *keplerRunner) learned(r *krun.Run, whole bool) {
	if r.Lesson == nil {
		return
	}
	l := r.Lesson.Result(whole)
	x.steps -= len(l.Steps.Kind)
	x.res.Lessons = append(x.res.Lessons, l)
}

// screen describes a picture.
func (r *KeplerReady) screen(m *FrameImage) lesson.Screen {
	p := r.Job.places[m.Buffer.S]
	s := lesson.Screen{Name: m.Buffer.S, Addr: uint64(p.at), Shared: p.shared, Width: m.Width, Height: m.Height, Format: m.Format}
	for _, c := range m.Colours {
		rgba := color.RGBAModel.Convert(c).(color.RGBA)
		s.Colours = append(s.Colours, fmt.Sprintf("#%02x%02x%02x", rgba.R, rgba.G, rgba.B))
	}
	return s
}

// filmed keeps the pictures of a frame while there is room.
func (x *keplerRunner) filmed(k *kepler.Core, frame int) {
	if !x.opt.Page {
		return
	}
	for i, m := range x.ready.Job.Images {
		if len(x.res.Films) <= i {
			x.res.Films = append(x.res.Films, lesson.Film{Screen: x.ready.screen(m), Delay: m.Delay})
		}
		if x.film -= int(m.bytes()); x.film < 0 {
			return
		}
		f := &x.res.Films[i]
		f.Frames, f.Bytes = append(f.Frames, frame), append(f.Bytes, x.ready.Bytes(k, m.Buffer.S)[:m.bytes()])
	}
}
