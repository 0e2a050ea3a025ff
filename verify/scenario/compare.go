package scenario

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"rnicmmu/clocked"
	"rnicmmu/configs"
	"rnicmmu/measure"
)

// comparison is SUM OP SUM, with ± N% or ± TIME where OP is =.
type comparison struct {
	text        string
	left, right sum
	op          string
	part, slack float64 // that it may be off by: of the right side, and as a number
}

// sum is terms, each of which counts so many times.
type sum []term

type term struct {
	times  float64
	value  float64 // where get is nil
	get    func(v *view) (float64, error)
	figure bool // it is counted in the run, not stated
}

// view is a run at an instant, or its end.
type view struct {
	p       *player
	summary *measure.Summary // nil: as it is now
	now     *measure.Summary
}

func (v *view) sum() *measure.Summary {
	if v.summary != nil {
		return v.summary
	}
	if v.now == nil {
		s := v.p.sys.Counters()
		v.now = &s
	}
	return v.now
}

// operators, the longer first.
var operators = []string{">=", "<=", "!=", "=", "<", ">"}

// compare reads a comparison.
func (r *reader) compare(words []string) (*comparison, error) {
	c := &comparison{text: strings.Join(words, " ")}
	text, slack, near := strings.Cut(c.text, "±")
	if !near {
		text, slack, near = strings.Cut(c.text, "+-")
	}
	at := len(text)
	for _, op := range operators {
		if i := strings.Index(text, op); i >= 0 && i < at {
			at, c.op = i, op
		}
	}
	if c.op == "" {
		return nil, fmt.Errorf("%q: EXPRESSION = EXPRESSION is due, or another of %s", c.text, strings.Join(operators, " "))
	}
	if near && c.op != "=" {
		return nil, fmt.Errorf("%q: ± goes with = only", c.text)
	}
	var err error
	if c.left, err = r.sum(text[:at]); err != nil {
		return nil, err
	}
	if c.right, err = r.sum(text[at+len(c.op):]); err != nil {
		return nil, err
	}
	if near {
		err = c.tolerance(strings.TrimSpace(slack))
	}
	return c, err
}

func (c *comparison) tolerance(text string) error {
	if percent, ok := strings.CutSuffix(text, "%"); ok {
		x, err := strconv.ParseFloat(strings.TrimSpace(percent), 64)
		if c.part = x / 100; err != nil || x < 0 || x > 100 {
			return fmt.Errorf("± %s: a part as 1%% is due", text)
		}
		return nil
	}
	x, err := number(text)
	if c.slack = x; err != nil || x < 0 {
		return fmt.Errorf("± %s: a part as 1%%, a time or a number is due", text)
	}
	return nil
}

// sum reads A + 2*B - C.
func (r *reader) sum(text string) (s sum, err error) {
	sign, due := 1.0, true
	for _, word := range strings.Fields(text) {
		if word == "+" || word == "-" {
			if sign = 1; word == "-" {
				sign = -1
			}
			due = true
			continue
		}
		if !due {
			return nil, fmt.Errorf("%q: + or - is due between %q and what is before it", text, word)
		}
		t, err := r.term(word)
		if err != nil {
			return nil, err
		}
		t.times *= sign
		s, due = append(s, t), false
	}
	if due {
		return nil, fmt.Errorf("%q: a figure or a value is due", text)
	}
	return s, nil
}

// number is a plain number, a time in picoseconds, or bytes.
func number(text string) (float64, error) {
	if x, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(x) && !math.IsInf(x, 0) {
		return x, nil
	}
	if t, err := configs.ParseTime(text); err == nil {
		return float64(t), nil
	}
	b, err := parseSize(text)
	return float64(b), err
}

// term reads [N*]FACTOR.
func (r *reader) term(word string) (t term, err error) {
	t.times = 1
	if n, rest, ok := strings.Cut(word, "*"); ok {
		if t.times, err = strconv.ParseFloat(n, 64); err != nil || math.Abs(t.times) > 1e12 {
			return t, fmt.Errorf("%s: a number is due before *", word)
		}
		word = rest
	}
	if t.value, err = number(word); err == nil {
		return t, nil
	}
	t.figure = true
	if name, inside, ok := strings.Cut(word, "("); ok && strings.HasSuffix(inside, ")") {
		t.get, err = r.function(name, strings.TrimSuffix(inside, ")"))
		return t, err
	}
	if name, column, ok := strings.Cut(word, "."); ok && r.s.names[name] != nil {
		t.get, err = r.column(r.s.names[name], column)
		return t, err
	}
	if !isFigure(word) {
		return t, fmt.Errorf("%s: neither a value nor a figure%s", word, configs.Suggest(word, append(r.s.eventNames(), figureNames()...)))
	}
	t.get = func(v *view) (float64, error) {
		x, ok := v.figure(word)
		if !ok {
			return 0, fmt.Errorf("%s: this system has no such figure", word)
		}
		return x, nil
	}
	return t, nil
}

func (s sum) value(v *view) (total float64, err error) {
	for _, t := range s {
		x := t.value
		if t.get != nil {
			if x, err = t.get(v); err != nil {
				return 0, err
			}
		}
		total += t.times * x
	}
	return total, nil
}

func (s sum) counted() bool {
	for _, t := range s {
		if t.figure {
			return true
		}
	}
	return false
}

// holds tells why the comparison does not hold; nil: it does.
func (c *comparison) holds(v *view) error {
	x, err := c.left.value(v)
	if err != nil {
		return err
	}
	y, err := c.right.value(v)
	if err != nil {
		return err
	}
	good := false
	switch c.op {
	case "=":
		good = math.Abs(x-y) <= c.part*math.Abs(y)+c.slack
	case "!=":
		good = x != y
	case "<=":
		good = x <= y
	case ">=":
		good = x >= y
	case "<":
		good = x < y
	case ">":
		good = x > y
	}
	if good {
		return nil
	}
	return fmt.Errorf("%s against %s", c.show(x), c.show(y))
}

// show prints a value as a time where the comparison has one.
func (c *comparison) show(x float64) string {
	if strings.Contains(c.text, "latency(") || strings.Contains(c.text, "time(") || strings.Contains(c.text, "_ps") {
		return fmt.Sprintf("%s (%s)", strconv.FormatFloat(x, 'f', -1, 64), clocked.Time(x))
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}
