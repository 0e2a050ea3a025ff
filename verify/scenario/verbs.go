package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rnicmmu/components/hostmmu/kernel"
	"rnicmmu/configs"
	"rnicmmu/model"
)

// kindOf is what sort of thing a verb does.
type kindOf uint8

const (
	kindAccess   kindOf = iota // by a peer
	kindPages                  // the kernel, to each page of a set
	kindRange                  // the kernel, to pages that follow each other
	kindCPU                    // the host's processor, to a page
	kindRegister               // software, to a region on an adapter
	kindAdvise                 // likewise, of part of a region
	kindReceive                // software posts receive buffers
	kindAdapter                // to an adapter as a whole
	kindMark                   // nothing: an instant gets a name
)

var argsOf = map[kindOf][]string{
	kindAccess:   {"offset", "length", "va", "qp", "adapter", "key", "fence", "invalidate", "repeat", "step", "every"},
	kindPages:    {"page", "pages"},
	kindRange:    {"page", "pages"},
	kindCPU:      {"page"},
	kindRegister: {"adapter", "qp", "rights"},
	kindAdvise:   {"adapter", "advice", "offset", "length"},
	kindReceive:  {"adapter", "qp", "count"},
	kindAdapter:  {"adapter"},
	kindMark:     {},
}

var verbs = map[string]kindOf{
	"write": kindAccess, "read": kindAccess, "send": kindAccess, "compare-swap": kindAccess, "fetch-add": kindAccess,
	"migrate": kindPages, "evict": kindPages, "protect": kindPages, "unprotect": kindPages, "cow": kindPages, "split": kindPages, "collapse": kindPages,
	"unmap": kindRange, "fork": kindRange,
	"cpu-load": kindCPU, "cpu-store": kindCPU,
	"register": kindRegister, "deregister": kindRegister, "fast-register": kindRegister, "local-invalidate": kindRegister, "remap": kindRegister,
	"advise":       kindAdvise,
	"post-receive": kindReceive,
	"remove":       kindAdapter, "flush-context": kindAdapter,
	"mark": kindMark,
}

// verbNames are those of verbs, in order.
var verbNames = func() (names []string) {
	for name := range verbs {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}()

var ops = map[string]model.Op{"write": model.OpWrite, "read": model.OpRead, "send": model.OpSend, "compare-swap": model.OpCompareSwap, "fetch-add": model.OpFetchAdd}

// most bounds what a scenario may name: it is a small input.
const (
	mostAdapters = 16
	mostQPs      = 4096
	mostRepeat   = 100000
	mostPages    = 1 << 20
)

// verb reads VERB [REGION] ARGUMENTS.
func (r *reader) verb(e *event, words []string) error {
	if len(words) == 0 {
		return fmt.Errorf("what happens is not said; one of %s is due", strings.Join(verbNames, ", "))
	}
	kind, known := verbs[words[0]]
	if !known {
		return fmt.Errorf("%s: one of %s is due%s", words[0], strings.Join(verbNames, ", "), configs.Suggest(words[0], verbNames))
	}
	e.verb = words[0]
	if e.name == "" {
		e.name = fmt.Sprintf("line %d", e.line)
	}
	a, err := readArgs(words[1:], argsOf[kind])
	if err == nil {
		err = r.target(e, kind, &a)
	}
	if err == nil {
		err = r.arguments(e, kind, &a)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", e.verb, err)
	}
	return nil
}

// target reads the region that a verb is for.
func (r *reader) target(e *event, kind kindOf, a *args) error {
	none := kind >= kindReceive
	if len(a.words) == 0 && !none && (kind != kindAccess || e.verb != "send" && !a.has("va")) {
		return fmt.Errorf("memory is due, the name of an mr")
	}
	if len(a.words) > 1 || none && len(a.words) > 0 {
		return fmt.Errorf("%q is too much", a.words[len(a.words)-1])
	}
	if len(a.words) == 0 {
		return nil
	}
	if e.region = r.s.region(a.words[0]); e.region == nil {
		var names []string
		for _, m := range r.s.memory {
			names = append(names, m.name)
		}
		return fmt.Errorf("%s: no mr has that name%s", a.words[0], configs.Suggest(a.words[0], names))
	}
	return nil
}

// arguments reads the others.
func (r *reader) arguments(e *event, kind kindOf, a *args) (err error) {
	if e.adapter, err = a.number("adapter", 0, mostAdapters-1); err != nil {
		return err
	}
	if e.qps, err = a.qps(); err != nil {
		return err
	}
	switch kind {
	case kindAccess:
		return r.access(e, a)
	case kindPages, kindRange, kindCPU:
		return e.readPages(kind, a)
	case kindRegister:
		e.rights, err = a.rights(0)
	case kindAdvise:
		return e.readAdvice(a)
	case kindReceive:
		e.count, err = a.number("count", 1, 1<<16)
	}
	return err
}

// access reads what an access has.
func (r *reader) access(e *event, a *args) (err error) {
	e.op, e.key, e.fence = ops[e.verb], a.values["key"], a.has("fence")
	fallback := uint64(64)
	if e.op.Atomic() {
		fallback = 8
	}
	if e.offset, err = a.size("offset", 0); err != nil {
		return err
	}
	if e.length, err = a.size("length", fallback); err != nil {
		return err
	}
	if e.length > 1<<31 {
		return fmt.Errorf("length=%s: 2GiB at most are due", a.values["length"])
	}
	if e.op.Atomic() && e.length != 8 {
		return fmt.Errorf("length=%s: atomics have 8 bytes", a.values["length"])
	}
	if e.va, err = a.size("va", 0); err != nil {
		return err
	}
	if e.step, err = a.size("step", 0); err != nil {
		return err
	}
	if e.every, err = a.time("every", 0); err != nil {
		return err
	}
	if e.repeat, err = a.number("repeat", 1, mostRepeat); err == nil && e.repeat < 1 {
		err = fmt.Errorf("repeat=0: 1 at least is due")
	}
	if err != nil {
		return err
	}
	return r.keys(e, a)
}

// keys reads key= and invalidate=.
func (r *reader) keys(e *event, a *args) error {
	if name := a.values["invalidate"]; name != "" {
		bare, nth, dated := strings.Cut(name, "#")
		if e.invalidate = r.s.region(bare); e.invalidate == nil || e.op != model.OpSend {
			return fmt.Errorf("invalidate=%s: a SEND invalidates the key of an mr; its name is due", name)
		}
		if e.victim = nth; dated && !isOrdinal(nth) {
			return fmt.Errorf("invalidate=%s: which of its keys is due, as in m#1", name)
		}
	}
	if e.key == "" {
		return nil
	}
	name, use, dated := strings.Cut(e.key, "#")
	if r.s.region(name) != nil {
		if dated && !isOrdinal(use) {
			return fmt.Errorf("key=%s: which of its keys is due, as in m#1", e.key)
		}
		return nil
	}
	if _, err := strconv.ParseUint(e.key, 0, 32); err != nil {
		return fmt.Errorf("key=%s: the name of an mr, NAME#N for its N-th key, or a number as 0x1234 is due", e.key)
	}
	return nil
}

// isOrdinal tells whether a text is a number from 1 on.
func isOrdinal(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n >= 1 && n <= 1000
}

// readPages reads page= or pages=; the first where neither is given.
func (e *event) readPages(kind kindOf, a *args) (err error) {
	last := uint32(min(mostPages, (e.region.length+4095)/4096)) // where host.page is more the run checks
	if a.has("page") && a.has("pages") {
		return fmt.Errorf("page= and pages= are both given; one is due")
	}
	name := "pages"
	if a.has("page") {
		name = "page"
	} else if !a.has("pages") {
		a.values["pages"] = "0"
	}
	if e.pages, err = a.set(name, last); err != nil {
		return err
	}
	if e.pages.any && kind != kindRange {
		e.pages = set{ranges: [][2]uint32{{0, last - 1}}}
	}
	if kind == kindRange && len(e.pages.ranges) > 1 || kind == kindCPU && (e.pages.any || e.pages.ranges[0][0] != e.pages.ranges[0][1]) {
		return fmt.Errorf("%s=%s: pages in one range are due, and of a CPU one page", name, a.values[name])
	}
	if !e.pages.any && len(e.pages.ranges) == 0 {
		return fmt.Errorf("%s=%s: at least one page is due", name, a.values[name])
	}
	return nil
}

var advices = map[string]kernel.Advice{"read": kernel.AdvisePrefetch, "write": kernel.AdvisePrefetchWrite, "no_fault": kernel.AdvisePrefetchNoFault}

func (e *event) readAdvice(a *args) (err error) {
	known := true
	if text, given := a.values["advice"]; given {
		e.advice, known = advices[text]
	}
	if !known {
		return fmt.Errorf("advice=%s: read, write or no_fault is due", a.values["advice"])
	}
	if e.offset, err = a.size("offset", 0); err != nil {
		return err
	}
	e.length, err = a.size("length", e.region.length)
	return err
}

// qps are queue pairs of an adapter: qp=3, or qp=0-127 for one access each.
func (a *args) qps() ([]int, error) {
	text, given := a.values["qp"]
	if !given {
		return []int{0}, nil
	}
	from, to, ranged := strings.Cut(text, "-")
	if !ranged {
		to = from
	}
	x, err1 := strconv.Atoi(from)
	y, err2 := strconv.Atoi(to)
	if err1 != nil || err2 != nil || x < 0 || y < x || y >= mostQPs {
		return nil, fmt.Errorf("qp=%s: a number or a range as 0-7 below %d is due", text, mostQPs)
	}
	var all []int
	for q := x; q <= y; q++ {
		all = append(all, q)
	}
	return all, nil
}
