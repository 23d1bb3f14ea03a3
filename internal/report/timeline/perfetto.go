package timeline

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
)

// This file: Perfetto's trace format, a sequence of protocol buffers. The few messages
// that are needed are written by hand. Field numbers are those of perfetto/trace
// (TracePacket, TrackDescriptor, TrackEvent, DebugAnnotation).

// msg is a message being written.
type msg []byte

func (m *msg) varint(v uint64) { *m = binary.AppendUvarint(*m, v) }

// uint writes an integer field, sub a field of bytes.
func (m *msg) uint(field int, v uint64) {
	m.varint(uint64(field) << 3)
	m.varint(v)
}

func (m *msg) sub(field int, b []byte) {
	m.varint(uint64(field)<<3 | 2)
	m.varint(uint64(len(b)))
	*m = append(*m, b...)
}

func (m *msg) text(field int, s string) { m.sub(field, []byte(s)) }

// Field numbers.
const (
	tracePacket = 1

	packetTime       = 8
	packetSequence   = 10
	packetEvent      = 11
	packetFlags      = 13
	packetDescriptor = 60

	trackUUID    = 1
	trackName    = 2
	trackParent  = 5
	trackCounter = 8

	eventNote    = 4
	eventType    = 9
	eventTrack   = 11
	eventName    = 23
	eventCounter = 30

	noteUint = 3
	noteText = 6
	noteName = 10
)

// Kinds of events.
const (
	sliceBegin = 1
	sliceEnd   = 2
	counterSet = 4
)

// perfetto writes packets.
type perfetto struct {
	w     *bufio.Writer
	err   error
	begun bool
	uuids uint64
	body  msg // scratch
	outer msg
}

func (p *perfetto) packet(field int, body msg, at uint64, timed bool) {
	m := p.outer[:0]
	if timed {
		m.uint(packetTime, at)
	}
	m.uint(packetSequence, 1)
	if !p.begun {
		m.uint(packetFlags, 1) // does not depend on earlier packets
		p.begun = true
	}
	m.sub(field, body)
	var head msg
	head.varint(tracePacket<<3 | 2)
	head.varint(uint64(len(m)))
	if _, err := p.w.Write(head); err != nil && p.err == nil {
		p.err = err
	}
	if _, err := p.w.Write(m); err != nil && p.err == nil {
		p.err = err
	}
	p.outer = m
}

// track makes a track below another (0: none).
func (p *perfetto) track(name string, parent uint64, counter bool) uint64 {
	p.uuids++
	m := p.body[:0]
	m.uint(trackUUID, p.uuids)
	m.text(trackName, name)
	if parent != 0 {
		m.uint(trackParent, parent)
	}
	if counter {
		m.sub(trackCounter, nil)
	}
	p.packet(packetDescriptor, m, 0, false)
	p.body = m
	return p.uuids
}

// note is an annotation of a slice.
type note struct {
	name string
	text string
	n    uint64
}

// slice writes the begin and end events of a slice.
func (p *perfetto) slice(track uint64, name string, from, to uint64, notes []note) {
	m := p.body[:0]
	m.uint(eventType, sliceBegin)
	m.uint(eventTrack, track)
	m.text(eventName, name)
	for _, n := range notes {
		var a msg
		a.text(noteName, n.name)
		if n.text != "" {
			a.text(noteText, n.text)
		} else {
			a.uint(noteUint, n.n)
		}
		m.sub(eventNote, a)
	}
	p.packet(packetEvent, m, from, true)
	m = m[:0]
	m.uint(eventType, sliceEnd)
	m.uint(eventTrack, track)
	p.packet(packetEvent, m, to, true)
	p.body = m
}

// set writes a counter's value.
func (p *perfetto) set(track, at, v uint64) {
	m := p.body[:0]
	m.uint(eventType, counterSet)
	m.uint(eventTrack, track)
	m.uint(eventCounter, v)
	p.packet(packetEvent, m, at, true)
	p.body = m
}

// counterCycles is the interval of the issue counters, in cycles.
const counterCycles = 64

// warpKey is a warp slot of an SM.
type warpKey struct{ sm, slot int32 }

// lane is a row of a warp's track: instructions on it do not overlap.
type lane struct {
	track uint64
	free  uint64
}

// WritePerfetto writes Perfetto's format. A nanosecond there is a core cycle here. There
// is a track for every SM, below it one for every scheduler, and below that its warps,
// each with one row per instruction in flight; a slice lasts from issue to write-back.
func (r *Recorder) WritePerfetto(w io.Writer) error {
	p := &perfetto{w: bufio.NewWriter(w)}
	list := r.all(func(x, y *Inst) int {
		return cmp.Or(cmp.Compare(x.At[Issue], y.At[Issue]), cmp.Compare(x.SM, y.SM), cmp.Compare(x.Slot, y.Slot))
	})
	root := p.track("GPU (1 ns = 1 core cycle)", 0, false)
	spans := map[string]uint64{}
	for _, s := range r.spans {
		t, ok := spans[s.Track]
		if !ok {
			t = p.track(s.Track, root, false)
			spans[s.Track] = t
		}
		p.slice(t, s.Name, s.Start, max(s.End, s.Start+1), nil)
	}
	// Tracks in the order of their numbers, not of first use.
	order := r.all(func(x, y *Inst) int {
		return cmp.Or(cmp.Compare(x.SM, y.SM), cmp.Compare(x.Sched, y.Sched), cmp.Compare(x.Slot, y.Slot))
	})
	issued := p.track(fmt.Sprintf("warp instructions issued in %d cycles", counterCycles), root, true)
	sms, scheds := map[int32]uint64{}, map[warpKey]uint64{}
	smIssued := map[int32]uint64{}
	warps := map[warpKey][]lane{}
	parents := map[warpKey]uint64{}
	for _, i := range order {
		if _, ok := sms[i.SM]; !ok {
			sms[i.SM] = p.track(fmt.Sprintf("SM %d", i.SM), root, false)
			smIssued[i.SM] = p.track(fmt.Sprintf("SM %d: issued in %d cycles", i.SM, counterCycles), sms[i.SM], true)
		}
		k := warpKey{i.SM, i.Sched}
		if _, ok := scheds[k]; !ok {
			scheds[k] = p.track(fmt.Sprintf("scheduler %d", i.Sched), sms[i.SM], false)
		}
		wk := warpKey{i.SM, i.Slot}
		if _, ok := parents[wk]; !ok {
			parents[wk] = scheds[k]
			warps[wk] = []lane{{track: p.track(fmt.Sprintf("warp %d", i.Slot), scheds[k], false)}}
		}
	}
	for _, i := range list {
		wk := warpKey{i.SM, i.Slot}
		lanes := warps[wk]
		at := 0
		for at < len(lanes) && lanes[at].free > i.At[Issue] {
			at++
		}
		if at == len(lanes) {
			lanes = append(lanes, lane{track: p.track(fmt.Sprintf("warp %d", i.Slot), parents[wk], false)})
			warps[wk] = lanes
		}
		lanes[at].free = i.end()
		notes := []note{{name: "kernel", text: r.kernel(i)}, {name: "block", n: i.Block}, {name: "warp", n: uint64(i.Warp)}, {name: "lanes", text: fmt.Sprintf("%08x", i.Lanes)}}
		if s := r.place(i); s != "" {
			notes = append(notes, note{name: "at", text: s})
		}
		if i.Flushed {
			notes = append(notes, note{name: "flushed", text: "yes"})
		}
		for s, name := range r.stages {
			notes = append(notes, note{name: name, n: i.At[s]})
		}
		p.slice(lanes[at].track, r.name(i), i.At[Issue], i.end(), notes)
	}
	p.counters(list, issued, smIssued)
	if err := p.w.Flush(); err != nil {
		return err
	}
	return p.err
}

// counters writes the number of instructions issued per interval, for the chip and for
// each SM; list is in issue order.
func (p *perfetto) counters(list []*Inst, chip uint64, sms map[int32]uint64) {
	var last uint64
	var total uint64
	by := map[int32]uint64{}
	was := map[int32]uint64{}
	var order []int32
	flush := func() {
		at := last * counterCycles
		p.set(chip, at, total)
		for _, sm := range order {
			if by[sm] != was[sm] {
				p.set(sms[sm], at, by[sm])
				was[sm] = by[sm]
			}
		}
		total = 0
		clear(by)
	}
	for n, i := range list {
		span := i.At[Issue] / counterCycles
		if n > 0 && span != last {
			flush()
			if span > last+1 { // nothing in between
				last++
				flush()
			}
		}
		last = span
		total++
		if _, ok := was[i.SM]; !ok {
			was[i.SM] = 0
			order = append(order, i.SM)
		}
		by[i.SM]++
	}
	if len(list) > 0 {
		flush()
		last++
		flush()
	}
}
