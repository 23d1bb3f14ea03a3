package check

import "maps"

// This file: launches of graphs. The nodes of a graph run one after the other, but only its
// edges order them: each chain of nodes is a stream of its own to the checkers.

// GraphBegin notes that a launch of a graph begins on a stream, or within the node that runs
// there. Launches of one executable graph are ordered, whatever their streams (CUDA programming
// guide, graph execution); exec names it, 0 for the graph of a node.
func (s *Set) GraphBegin(stream int64, exec uint64) { s.order.graph(stream, exec) }

// GraphNode notes that the next node of the graph begins, after the nodes of the given numbers:
// the first to begin has number 0.
func (s *Set) GraphNode(stream int64, after []int) { s.order.node(stream, after) }

// GraphEnd notes that the launch has ended.
func (s *Set) GraphEnd(stream int64) { s.order.endGraph(stream) }

// graphRun is a launch of a graph.
type graphRun struct {
	exec  uint64
	key   int64 // of the stream, or of the node that the graph is in
	begin Clock
	lanes []int64       // of its nodes, by number
	ends  []Clock       // what each node and those before it did
	tips  map[int64]int // the last node of a lane; -1: none yet
}

// lane returns the key of the stream's work: the stream itself, or the chain of the node that
// runs there.
func (o *order) lane(stream int64) int64 {
	list := o.graphs[stream]
	if len(list) == 0 {
		return stream
	}
	g := list[len(list)-1]
	if n := len(g.lanes); n > 0 {
		return g.lanes[n-1]
	}
	return g.key
}

func (o *order) graph(stream int64, exec uint64) {
	key := o.lane(stream)
	c := o.submit(stream)
	if exec != 0 {
		c = join(c, o.events[exec])
		o.clocks[key] = c
	}
	o.graphs[stream] = append(o.graphs[stream], &graphRun{exec: exec, key: key, begin: c, tips: map[int64]int{key: -1}})
}

func (o *order) node(stream int64, after []int) {
	list := o.graphs[stream]
	if len(list) == 0 {
		return
	}
	g := list[len(list)-1]
	g.leave(o)
	number, c, lane := len(g.lanes), g.begin, HostThread
	if len(after) == 0 && g.tips[g.key] < 0 {
		lane = g.key
	}
	for _, n := range after {
		c = join(c, g.ends[n])
		if l := g.lanes[n]; lane == HostThread && g.tips[l] == n {
			lane = l
		}
	}
	if lane == HostThread {
		lane = o.freeLane(g, [2]int64{g.key, int64(len(list))})
	}
	g.lanes, g.tips[lane], o.clocks[lane] = append(g.lanes, lane), number, c
}

// freeLane returns a chain that no node of the launch is on. Launches one after another on a
// stream, or in a chain, use the same ones: each begins after the one before has ended.
func (o *order) freeLane(g *graphRun, where [2]int64) int64 {
	for _, l := range o.lanes[where] {
		if _, used := g.tips[l]; !used {
			return l
		}
	}
	o.lastLane--
	o.lanes[where] = append(o.lanes[where], o.lastLane)
	return o.lastLane
}

// leave notes the end of the node that runs.
func (g *graphRun) leave(o *order) {
	if n := len(g.lanes); n > len(g.ends) {
		g.ends = append(g.ends, o.clocks[g.lanes[n-1]])
	}
}

func (o *order) endGraph(stream int64) {
	list := o.graphs[stream]
	if len(list) == 0 {
		return
	}
	g := list[len(list)-1]
	g.leave(o)
	if o.graphs[stream] = list[:len(list)-1]; len(list) == 1 {
		delete(o.graphs, stream)
	}
	c := maps.Clone(g.begin)
	for _, l := range g.lanes {
		delete(o.clocks, l)
	}
	for _, end := range g.ends {
		for k, n := range end {
			c[k] = max(c[k], n)
		}
	}
	o.clocks[g.key] = c
	if g.exec != 0 {
		o.events[g.exec] = c
	}
}
