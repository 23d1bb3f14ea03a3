package cuda

import (
	"encoding/binary"
	"strings"
	"testing"
)

// TestProcessHandles: what has a handle for other processes, and who may open it.
func TestProcessHandles(t *testing.T) {
	b := start(t, nil)
	d := b.malloc(64)
	pooled, _ := b.MallocAsync(64, 0, 0)
	pinned, _ := b.MallocHost(64, 0)
	h, err := b.ShareMemory(d)
	b.want("memory", err, Success)
	for name, addr := range map[string]uint64{"within": d + 4, "a pool": pooled, "the host": pinned, "null": 0, "nothing": d + 1<<30} {
		_, err := b.ShareMemory(addr)
		b.want(name, err, InvalidValue)
	}
	foreign, odd := h, h
	binary.LittleEndian.PutUint64(foreign[8:], 1)
	odd[0]++
	for _, c := range []struct {
		name  string
		h     ProcessHandle
		flags uint32
		want  Error
		says  string
	}{
		{"its own", h, 1, DeviceUninitialized, "a process cannot open the handle of its own memory"},
		{"another process's", foreign, 1, NotSupported, "each process has a simulated machine of its own"},
		{"no handle", odd, 1, InvalidValue, ""},
		{"no flag", h, 0, InvalidValue, ""},
	} {
		b.want(c.name, b.OpenMemory(c.h, c.flags), c.want)
		if !strings.Contains(b.log.String(), c.says) {
			t.Errorf("%s: %q does not say %q", c.name, b.log, c.says)
		}
	}
	e, _ := b.EventCreate(interprocess | noTiming)
	h, err = b.ShareEvent(e)
	b.want("event", err, Success)
	b.want("its own", b.OpenEvent(h), DeviceUninitialized)
	e, _ = b.EventCreate(noTiming)
	_, err = b.ShareEvent(e)
	b.want("an event for this process", err, InvalidHandle)
	b.want("free", b.Free(d), Success)
	_, err = b.ShareMemory(d)
	b.want("freed", err, InvalidValue)
}
