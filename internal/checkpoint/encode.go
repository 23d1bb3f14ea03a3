package checkpoint

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"reflect"
	"slices"
	"unsafe"
)

// object is a value that pointers point to.
type object struct {
	at  unsafe.Pointer
	typ reflect.Type
}

// Encoder writes values.
type Encoder struct {
	w    *bufio.Writer
	plan *planner
	seen map[object]uint64 // numbers of the values of pointers, from 1 on
	path []string
	buf  [binary.MaxVarintLen64]byte
}

// NewEncoder returns an encoder. Its owner calls Flush at the end.
func NewEncoder(w io.Writer, r Rules) *Encoder {
	return &Encoder{w: bufio.NewWriterSize(w, 1<<16), plan: newPlanner(r), seen: map[object]uint64{}}
}

// Encode writes what a pointer points to. Pointers of all values of an encoder share what they point to.
func (e *Encoder) Encode(ptr any) (err error) {
	e.path = e.path[:0]
	defer caught(&err, &e.path)
	v := reflect.ValueOf(ptr)
	e.value(e.plan.of(v.Type()), v)
	return nil
}

// Flush writes what is left.
func (e *Encoder) Flush() error { return e.w.Flush() }

func (e *Encoder) number(n uint64) { e.write(binary.AppendUvarint(e.buf[:0], n)) }

func (e *Encoder) write(b []byte) {
	if _, err := e.w.Write(b); err != nil {
		panic(fail{err})
	}
}

// memory returns the bytes of n values that follow each other.
func memory(at unsafe.Pointer, size uintptr, n int) []byte {
	return unsafe.Slice((*byte)(at), int(size)*n)
}

// open makes a field accessible that is not exported.
func open(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}

// value writes a value. It is addressable, except for pointers.
func (e *Encoder) value(p *plan, v reflect.Value) {
	switch p.how {
	case leave:
	case raw:
		e.write(memory(unsafe.Pointer(v.UnsafeAddr()), p.typ.Size(), 1))
	case text:
		e.number(uint64(v.Len()))
		if _, err := e.w.WriteString(v.String()); err != nil {
			panic(fail{err})
		}
	case fields:
		for _, f := range p.fields {
			e.path = append(e.path, f.name)
			e.value(f.plan, open(v.Field(f.index)))
			e.path = e.path[:len(e.path)-1]
		}
	case elements:
		for i := range v.Len() {
			e.value(p.elem, v.Index(i))
		}
	case list:
		e.list(p, v)
	case table:
		e.table(p, v)
	case pointee:
		e.pointer(p, v)
	case dynamic:
		e.dynamic(v)
	default:
		panic(fail{fmt.Errorf("a %v cannot be written", p.typ)})
	}
}

// list writes a slice: its length plus one, 0 for nil, and its elements.
func (e *Encoder) list(p *plan, v reflect.Value) {
	if v.IsNil() {
		e.number(0)
		return
	}
	e.number(uint64(v.Len()) + 1)
	if p.elem.how == raw {
		e.write(memory(v.UnsafePointer(), p.elem.typ.Size(), v.Len()))
		return
	}
	for i := range v.Len() {
		e.value(p.elem, v.Index(i))
	}
}

// table writes a map like a slice of keys and values, ordered by what is written of the keys.
func (e *Encoder) table(p *plan, v reflect.Value) {
	if v.IsNil() {
		e.number(0)
		return
	}
	type entry struct {
		key   []byte
		value reflect.Value
	}
	var list []entry
	for it := v.MapRange(); it.Next(); {
		key, value := settable(it.Key()), settable(it.Value())
		var b bytes.Buffer
		k := Encoder{w: bufio.NewWriter(&b), plan: e.plan}
		k.value(p.key, key)
		_ = k.w.Flush() // to memory
		list = append(list, entry{b.Bytes(), value})
	}
	slices.SortFunc(list, func(a, b entry) int { return bytes.Compare(a.key, b.key) })
	e.number(uint64(len(list)) + 1)
	for _, x := range list {
		e.write(x.key)
		e.value(p.elem, x.value)
	}
}

// settable returns an addressable copy.
func settable(v reflect.Value) reflect.Value {
	x := reflect.New(v.Type()).Elem()
	x.Set(v)
	return x
}

// Numbers written for pointers; others are two more than that of a value.
const (
	null  = 0
	fresh = 1 // the value follows, and gets the next number
)

// pointer writes a pointer, and its value the first time.
func (e *Encoder) pointer(p *plan, v reflect.Value) {
	if v.IsNil() {
		e.number(null)
		return
	}
	o := object{v.UnsafePointer(), p.typ}
	if n := e.seen[o]; n > 0 {
		e.number(n + fresh)
		return
	}
	e.seen[o] = uint64(len(e.seen)) + 1
	e.number(fresh)
	e.value(p.elem, v.Elem())
}

// dynamic writes the type and the value of an interface.
func (e *Encoder) dynamic(v reflect.Value) {
	if v.IsNil() {
		e.number(0)
		return
	}
	x := v.Elem()
	p := e.plan.of(x.Type())
	name := x.Type().String()
	e.number(uint64(len(name)) + 1)
	e.write([]byte(name))
	if p.how != pointee {
		x = settable(x)
	}
	e.value(p, x)
}
