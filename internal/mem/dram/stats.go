package dram

// BankStats are the counters of one bank.
type BankStats struct {
	Reads      uint64 // read commands
	Writes     uint64 // write commands
	Activates  uint64
	Requests   uint64 // handed to the bank
	RowHits    uint64 // of these, those that found their row open or in use
	Busy       uint64 // cycles with a request
	RowUsesMax uint64 // most requests between two changes of row, under FRFCFS
	RowSpanMax uint64 // most core cycles between two changes of row, under FRFCFS
	WaitMax    uint64 `combine:"max"` // longest wait of a request for the bank, core cycles
}

// Stats are a channel's counters, in command clock cycles unless stated otherwise.
// They count from the start of the run.
type Stats struct {
	Cycles     uint64
	Idle       uint64 // without a command
	Activates  uint64
	Precharges uint64
	Refreshes  uint64
	Requests   uint64 // pushed
	Reads      uint64 // read commands except those for write allocation
	AllocReads uint64 // read commands for write allocation
	Writes     uint64 // write commands except those of L2 write-backs
	WriteBacks uint64 // write commands of L2 write-backs
	DataCycles uint64 // the data pins' share: commands times cycles of a burst
	Active     uint64 // some bank had a request or some timer ran

	ReadRequests  uint64 // pushed, in units of an atom's bytes rounded down
	WriteRequests uint64

	Scheduled     uint64 // requests handed to a bank by FRFCFS
	RowHits       uint64 // of these, those whose row was open or in use
	ReadScheduled uint64
	ReadRowHits   uint64
	WriteRowHits  uint64
	QueueSum      uint64 // waiting requests, summed over cycles
	QueueMax      int
	WaitSum       uint64     // core cycles from Push to a bank
	WaitMax       uint64     `combine:"max"`
	WaitLog2      [64]uint64 // requests by the logarithm of that wait

	// Parallelism of banks, summed over cycles, and the cycles that had any.
	BanksBusy, BanksBusyCycles   uint64 // with a request
	BanksOpen, BanksOpenCycles   uint64 // with a request for their open row
	BanksReady, BanksReadyCycles uint64 // with a column command that may go now
	OpenWriteShare               uint64 // writes among BanksOpen, their share per cycle summed, in 2^-32
	GroupsOpen                   uint64 // bank groups with such a bank as BanksOpen
	AfterBusyCycles              uint64 // with a request after the cycle's commands

	// Every cycle is one of these: the data pins in use; unused although some
	// request's row is open; only requests for closed rows; no request.
	Used, LostColumn, LostRow, NoWork uint64

	// What held back a request whose row is open, in cycles of LostColumn.
	Held HeldBy

	DoubleIssue uint64 // cycles with a row and a column command
	Columns     uint64 // cycles with a column command
	Rows        uint64 // cycles with a row command
}

// HeldBy counts what prevented a column command.
type HeldBy struct {
	RCD, RCDWR, CCD, CCDL, WTR, RTW, Pins uint64
	CCDLAlone, WTRAlone, RTWAlone         uint64
}
