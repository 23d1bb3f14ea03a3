package cuda

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/binary/fatbin"
)

// nonsense draws arguments of every type that calls take: handles and addresses
// returned by earlier calls, some of them no longer valid, sizes from zero to
// absurd, valid and invalid values of enumerations.
type nonsense struct {
	*rand.Rand
	known []uint64
}

var (
	odds   = []uint64{0, 1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 33, 64, 100, 255, 256, 1024, 4096, 65535, 1 << 20, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 40, 1 << 46, math.MaxInt64, 1 << 63, math.MaxUint64}
	images = [][]byte{nil, {}, []byte(code), []byte("nonsense"), []byte(code)[:500], fatbin.Append(nil, fatbin.Entry{Kind: fatbin.PTX, SM: 70, Data: []byte(code)}), []byte("\x7fELF")}
	names  = []string{"", "add", "image", "factor", "app.ptx", "nowhere"}
)

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// number draws a number, usually one of a few.
func (n *nonsense) number() uint64 {
	switch n.IntN(4) {
	case 0:
		return pick(n.Rand, odds)
	case 1:
		return uint64(n.IntN(5))
	}
	return pick(n.Rand, n.known)
}

var workType = reflect.TypeFor[Work]()

func (n *nonsense) work() Work {
	arg := func(_, _ int, to []byte) { copy(to, []byte{1, 2, 3}) }
	switch n.IntN(12) {
	case 0:
		return KernelNode(n.number(), n.value(reflect.TypeFor[Call]()).Interface().(Call), n.IntN(4) == 0, arg)
	case 1:
		return CopyNode(n.number(), n.number(), n.value(reflect.TypeFor[Rows]()).Interface().(Rows), Kind(n.IntN(6)))
	case 2:
		return SymbolNode(n.number(), n.number(), n.number(), n.number(), Kind(n.IntN(6)), n.IntN(2) == 0)
	case 3:
		return FillNode(n.number(), make([]byte, n.IntN(5)), n.value(reflect.TypeFor[Rows]()).Interface().(Rows))
	case 4:
		return HostNode(n.number(), n.number())
	case 5:
		return ChildNode(n.number())
	case 6:
		return EventNode(n.number(), pick(n.Rand, []NodeKind{NodeEventRecord, NodeEventWait}))
	case 7:
		return AllocNode(n.IntN(3)-1, n.number(), []int{n.IntN(3)})
	case 8:
		return FreeNode(n.number())
	case 9:
		return MemoryNode(n.value(reflect.TypeFor[[]MemoryOp]()).Interface().([]MemoryOp))
	case 10: // no loops: they may be endless
		return ConditionalNode(n.number(), pick(n.Rand, []ConditionalKind{ConditionalIf, ConditionalSwitch, -1, 3}), uint32(n.IntN(4)))
	}
	return EmptyNode()
}

// value draws a value of a type.
func (n *nonsense) value(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	if t == workType {
		return reflect.ValueOf(n.work())
	}
	switch t.Kind() {
	case reflect.Bool:
		v.SetBool(n.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(n.number()) * int64(1-2*(n.IntN(8)/7)))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(n.number() & (1<<t.Bits() - 1))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(pick(n.Rand, []float64{0, 1, -1, 0.5, 1e30, math.Inf(1), math.NaN()}))
	case reflect.String:
		v.SetString(pick(n.Rand, names))
	case reflect.Struct:
		for i := range t.NumField() {
			if t.Field(i).IsExported() {
				v.Field(i).Set(n.value(t.Field(i).Type))
			}
		}
	case reflect.Array:
		for i := range t.Len() {
			v.Index(i).Set(n.value(t.Elem()))
		}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			v.SetBytes(slices.Clone(pick(n.Rand, images)))
			break
		}
		for range n.IntN(3) {
			v = reflect.Append(v, n.value(t.Elem()))
		}
	case reflect.Pointer:
		if n.IntN(2) == 0 {
			v.Set(reflect.New(t.Elem()))
			v.Elem().Set(n.value(t.Elem()))
		}
	case reflect.Func:
		v.Set(reflect.MakeFunc(t, func([]reflect.Value) []reflect.Value {
			out := make([]reflect.Value, t.NumOut())
			for i := range out {
				out[i] = reflect.Zero(t.Out(i))
			}
			return out
		}))
	}
	return v
}

// TestNonsense makes calls of every kind with random arguments, in turns from
// several threads. None of them may end the program, and valid calls in between
// still work.
func TestNonsense(t *testing.T) {
	end := unmapped(t)
	calls := map[bool]int{false: 20000, true: 4000}
	if !alltests.On() {
		calls = map[bool]int{false: 2000, true: 400}
	}
	both(t, func(t *testing.T, mode func(*Options)) {
		for seed := range uint64(3) {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				var last []string
				defer func() {
					if t.Failed() {
						t.Logf("the last calls:\n%s", strings.Join(last, "\n"))
					}
				}()
				b := start(t, func(o *Options) {
					o.MaxInsts, o.Threads, o.Settings.Memory = 100000, 1, 1<<26
					if mode != nil {
						mode(o)
					}
					o.Host = realHost{o.Host}
				})
				n := &nonsense{Rand: rand.New(rand.NewPCG(seed, 1)), known: []uint64{end - 1<<16, end - 4096, end - 4, aTexture}}
				for _, name := range kernelNames {
					n.known = append(n.known, kernel(name))
				}
				for _, name := range varNames {
					n.known = append(n.known, variableOf(name))
				}
				for i := range calls[mode != nil] {
					thread := b.r.Thread(uint64(n.IntN(3)))
					object := reflect.ValueOf(thread)
					if n.IntN(4) == 0 {
						object = reflect.ValueOf(thread.Driver())
					}
					m := n.IntN(object.NumMethod())
					method, name := object.Method(m), object.Type().Method(m).Name
					var args []reflect.Value
					for k := range method.Type().NumIn() {
						args = append(args, n.value(method.Type().In(k)))
					}
					if last = append(last, fmt.Sprintf("%d: %s%.300s", i, name, describe(args))); len(last) > 12 {
						last = last[1:]
					}
					var results []reflect.Value
					func() {
						defer func() {
							if e := recover(); e != nil {
								t.Errorf("call %d, %s: %v", i, name, e)
								panic(e)
							}
						}()
						if method.Type().IsVariadic() {
							results = method.CallSlice(args)
						} else {
							results = method.Call(args)
						}
					}()
					for _, v := range results {
						if v.Kind() == reflect.Uint64 && v.Uint() != 0 {
							if len(n.known) < 200 {
								n.known = append(n.known, v.Uint())
							} else {
								n.known[20+n.IntN(180)] = v.Uint()
							}
						}
					}
					if i%100 == 99 || b.r.sticky != Success {
						if err := b.again(); err != Success && err != LaunchTimeout || err == LaunchTimeout && b.again() != Success { // the limit applies to all cycles until a fault
							t.Fatalf("after call %d a kernel does not run: %v\n%s", i, err, b.log)
						}
					}
					if t.Failed() {
						return
					}
				}
				b.r.Result()
			})
		}
	})
}

// again resets the device and runs a kernel.
func (b *bench) again() Error {
	b.log.Reset()
	b.SetDevice(0)
	b.want("reset", b.Reset(), Success)
	if err := b.run("add", 4, 0, b.malloc(64), 5); err != Success {
		return err
	}
	return b.Synchronize()
}

// describe formats arguments for a message.
func describe(args []reflect.Value) string {
	var s []string
	for _, a := range args {
		if a.Kind() == reflect.Func {
			s = append(s, "func")
		} else {
			s = append(s, fmt.Sprintf("%#v", a.Interface()))
		}
	}
	return "(" + strings.Join(s, ", ") + ")"
}
