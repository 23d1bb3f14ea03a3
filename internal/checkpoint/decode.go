package checkpoint

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"unsafe"
)

// Bounds for what is read, so that a file that is not what it says cannot use up memory (our choice).
const (
	// step is how many bytes are made room for at a time, if fewer were read so far: lists within lists may all say that
	// they are long.
	step = 1 << 12
	// deepest limits pointers within pointers: the longest chains in use, of pieces of requests, have three.
	deepest = 1 << 12
)

// Decoder reads what an Encoder wrote.
type Decoder struct {
	r       *bufio.Reader
	plan    *planner
	objects []reflect.Value // pointers, by number
	taken   map[object]bool // values of the machine that have been filled in
	path    []string
	depth   int
}

// NewDecoder returns a decoder for what an encoder with the same rules wrote.
func NewDecoder(r io.Reader, rules Rules) *Decoder {
	return &Decoder{r: bufio.NewReaderSize(r, 1<<16), plan: newPlanner(rules), taken: map[object]bool{}}
}

// Decode fills in what a pointer points to. After an error it may be filled in partly.
func (d *Decoder) Decode(ptr any) (err error) {
	d.path = d.path[:0]
	defer caught(&err, &d.path)
	v := settable(reflect.ValueOf(ptr))
	d.value(d.plan.of(v.Type()), v)
	return nil
}

// End returns an error unless everything has been read.
func (d *Decoder) End() error {
	if _, err := d.r.ReadByte(); err != io.EOF {
		return errors.New("there is more in it than belongs there")
	}
	return nil
}

func (d *Decoder) fail(format string, args ...any) { panic(fail{fmt.Errorf(format, args...)}) }

func (d *Decoder) number() uint64 {
	n, err := binary.ReadUvarint(d.r)
	if err != nil {
		d.short(err)
	}
	return n
}

// short reports that there is not enough to read.
func (d *Decoder) short(err error) {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = errors.New("it ends too early")
	}
	panic(fail{err})
}

func (d *Decoder) read(b []byte) {
	if _, err := io.ReadFull(d.r, b); err != nil {
		d.short(err)
	}
}

// bytes reads n bytes.
func (d *Decoder) bytes(n uint64) []byte {
	var b []byte
	for n > 0 {
		k := min(n, max(step, uint64(len(b))))
		at := len(b)
		b = append(b, make([]byte, k)...)
		d.read(b[at:])
		n -= k
	}
	return b
}

func (d *Decoder) value(p *plan, v reflect.Value) {
	switch p.how {
	case leave:
	case raw:
		d.read(memory(unsafe.Pointer(v.UnsafeAddr()), p.typ.Size(), 1))
	case text:
		v.SetString(string(d.bytes(d.number())))
	case fields:
		for _, f := range p.fields {
			d.path = append(d.path, f.name)
			d.value(f.plan, open(v.Field(f.index)))
			d.path = d.path[:len(d.path)-1]
		}
	case elements:
		for i := range v.Len() {
			d.value(p.elem, v.Index(i))
		}
	case list:
		d.list(p, v)
	case table:
		d.table(p, v)
	case pointee:
		d.pointer(p, v)
	case dynamic:
		d.dynamic(v)
	default:
		d.fail("a %v cannot be read", p.typ)
	}
}

// list reads a slice, into the same memory if that has room.
func (d *Decoder) list(p *plan, v reflect.Value) {
	n := d.number()
	if n == 0 {
		v.SetZero()
		return
	}
	if n--; n > math.MaxInt32 {
		d.fail("a list of %d elements is too long", n)
	}
	if v.IsNil() {
		v.Set(reflect.MakeSlice(p.typ, 0, int(min(n, step/(uint64(p.elem.typ.Size())+1)))))
	}
	have := min(int(n), v.Cap())
	v.SetLen(have)
	size := p.elem.typ.Size()
	for i := 0; ; {
		if p.elem.how == raw {
			d.read(memory(unsafe.Add(v.UnsafePointer(), uintptr(i)*size), size, have-i))
		} else {
			for ; i < have; i++ {
				d.value(p.elem, v.Index(i))
			}
		}
		if i = have; i == int(n) {
			return
		}
		v.Grow(min(int(n)-have, max(have, step/(int(size)+1)+1)))
		have = min(int(n), v.Cap())
		v.SetLen(have)
	}
}

// table reads a map, in place of its entries.
func (d *Decoder) table(p *plan, v reflect.Value) {
	n := d.number()
	if n == 0 {
		v.SetZero()
		return
	}
	before := reflect.New(p.typ).Elem()
	before.Set(v)
	v.Set(reflect.MakeMap(p.typ))
	for range n - 1 {
		key, value := reflect.New(p.key.typ).Elem(), reflect.New(p.elem.typ).Elem()
		d.value(p.key, key)
		if old := before.MapIndex(key); old.IsValid() {
			value.Set(old) // who refers to what it points to stays right
		}
		d.value(p.elem, value)
		v.SetMapIndex(key, value)
	}
}

// pointer reads a pointer. A value that comes for the first time goes where the pointer points to, if no other one went there.
func (d *Decoder) pointer(p *plan, v reflect.Value) {
	switch n := d.number(); n {
	case null:
		v.SetZero()
	case fresh:
		if d.depth++; d.depth > deepest {
			d.fail("pointers are nested too deeply")
		}
		o := object{v.UnsafePointer(), p.typ}
		if o.at == nil || d.taken[o] {
			v.Set(reflect.New(p.elem.typ))
			o.at = v.UnsafePointer()
		}
		d.taken[o] = true
		d.objects = append(d.objects, settable(v))
		d.value(p.elem, v.Elem())
		d.depth--
	default:
		if n -= fresh; n > uint64(len(d.objects)) {
			d.fail("it refers to value %d of %d", n, len(d.objects))
		}
		x := d.objects[n-1]
		if x.Type() != p.typ {
			d.fail("it refers to a %v where a %v belongs", x.Type(), p.typ)
		}
		if at := v.UnsafePointer(); at != nil && at != x.UnsafePointer() && !d.taken[object{at, p.typ}] {
			d.fail("it refers to a %v other than the machine's own", x.Type()) // functions of the machine would keep that
		}
		v.Set(x)
	}
}

// longest bounds the name of a type.
const longest = 1 << 10

// dynamic reads the value of an interface, which must have the type of its present value, or a plain one.
func (d *Decoder) dynamic(v reflect.Value) {
	n := d.number()
	if n == 0 {
		v.SetZero()
		return
	}
	if n > longest {
		d.fail("the name of a type is too long")
	}
	name := string(d.bytes(n - 1))
	t := plain[name]
	if !v.IsNil() && v.Elem().Type().String() == name {
		t = v.Elem().Type()
	}
	if t == nil || !t.AssignableTo(v.Type()) {
		have := "nothing"
		if !v.IsNil() {
			have = "a " + v.Elem().Type().String()
		}
		d.fail("it has a %s where the machine has %s", name, have)
	}
	x := reflect.New(t).Elem()
	if !v.IsNil() && v.Elem().Type() == t {
		x.Set(v.Elem())
	}
	if d.depth++; d.depth > deepest {
		d.fail("values are nested too deeply")
	}
	d.value(d.plan.of(t), x)
	d.depth--
	v.Set(x)
}

// plain are the types that interfaces of results hold.
var plain = func() map[string]reflect.Type {
	m := map[string]reflect.Type{}
	for _, x := range []any{"", false, int(0), int64(0), uint64(0), float64(0), []string(nil), []any(nil), map[string]any(nil)} {
		t := reflect.TypeOf(x)
		m[t.String()] = t
	}
	return m
}()
