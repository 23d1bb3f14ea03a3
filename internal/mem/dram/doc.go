// Package dram models one channel of graphics memory command by command:
// banks and bank groups with an open page each, the constraints between
// commands, the data pins, a first-come and a first-ready scheduler, a write
// queue with watermarks, and refresh.
//
// It knows a request's bank, row, size and direction, but neither the mapping of
// addresses to banks (package part) nor the bytes. Its unit of time is the command
// clock of the device; one call of Cycle is one such cycle.
package dram
