package main

/*
#include "host.h"
*/
import "C"

import (
	"fmt"
	"sync"
	"syscall"

	"github.com/heddle-sim/heddle/internal/report"
	"github.com/heddle-sim/heddle/internal/work/cuda"
)

// reported blocks a second writer of the report.
var reported sync.Once

// listen writes the report when the program ends by a signal or by _exit.
func listen(r *cuda.Runtime) {
	fd := C.heddle_listen()
	if fd < 0 {
		return // without pipes such a program gets no report
	}
	go func() {
		why := make([]byte, 1)
		for {
			n, err := syscall.Read(int(fd), why)
			if err == syscall.EINTR {
				continue
			}
			if n != 1 || err != nil {
				return
			}
			break
		}
		sig := syscall.Signal(why[0])
		res := r.Interrupt()
		reported.Do(func() { writeReport(endedBy(res, sig)) })
		C.heddle_answer()
		switch sig {
		case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP:
			C.heddle_die(C.int(sig))
		}
	}()
}

// endedBy adds to a report what ended the program: a signal, or _exit.
func endedBy(res *report.Run, sig syscall.Signal) *report.Run {
	if res.Error == nil || res.Error.Kind != "interrupted" {
		return res // it already has an error
	}
	switch sig {
	case 0:
		res.OK, res.Error = true, nil
	case syscall.SIGINT:
	case syscall.SIGTERM, syscall.SIGHUP:
		res.Error.Message = "the program was ended: " + sig.String()
	default: // caused by the program itself
		res.Error.Kind, res.Error.Message = "signal", fmt.Sprintf("ended by signal %d (%v)", int(sig), sig)
	}
	return res
}

// heddleExit is called when the program ends by exit, or returns from main.
//
//export heddleExit
func heddleExit() {
	res := runtime().Result()
	reported.Do(func() { writeReport(res) })
	C.heddle_answer()
}
