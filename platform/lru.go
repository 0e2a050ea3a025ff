package platform

// nobody is no place in a list.
const nobody = int32(-1)

// lruNode is a place in a lruList, lruNodes those of all numbers.
type (
	lruNode struct {
		prev, next int32
		in         bool // a list has it
	}
	lruNodes []lruNode
)

// lruList orders numbers by their last use. A number is in one list at most of
// those that share its nodes.
type lruList struct{ oldest, newest int32 }

var emptyList = lruList{nobody, nobody}

// push adds a number, as the one used last.
func (l *lruList) push(nodes lruNodes, n int32) {
	nodes[n] = lruNode{l.newest, nobody, true}
	if l.newest == nobody {
		l.oldest = n
	} else {
		nodes[l.newest].next = n
	}
	l.newest = n
}

// remove takes a number out of the list, in which it is.
func (l *lruList) remove(nodes lruNodes, n int32) {
	x := nodes[n]
	nodes[n].in = false
	if x.prev == nobody {
		l.oldest = x.next
	} else {
		nodes[x.prev].next = x.next
	}
	if x.next == nobody {
		l.newest = x.prev
	} else {
		nodes[x.next].prev = x.prev
	}
}
