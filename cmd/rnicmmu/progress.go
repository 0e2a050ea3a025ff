package main

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// progress shows work done on standard error: a bar on a terminal, else a plain
// line every ten seconds.
type progress struct {
	what    string
	started time.Time
	last    time.Time
	noted   atomic.Value // string: what else there is to say
	pool    *mpb.Progress
	bar     *mpb.Bar
}

const plainInterval = 10 * time.Second

func newProgress(what string) *progress {
	now := time.Now()
	p := &progress{what: what, started: now, last: now}
	if terminal() {
		p.pool = mpb.New(mpb.WithOutput(os.Stderr), mpb.WithWidth(40))
		p.bar = p.pool.AddBar(0, mpb.BarRemoveOnComplete(),
			mpb.PrependDecorators(decor.Name(what+" "), decor.CountersNoUnit("%d / %d")),
			mpb.AppendDecorators(decor.AverageSpeed(0, "%.3g/s"), decor.Name(", "), decor.AverageETA(decor.ET_STYLE_GO), decor.Name(" left"),
				decor.Any(func(decor.Statistics) string { return p.more() })))
	}
	return p
}

func terminal() bool {
	info, err := os.Stderr.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// note is more to show beside what is done.
func (p *progress) note(text string) { p.noted.Store(", " + text) }

func (p *progress) more() string {
	text, _ := p.noted.Load().(string)
	return text
}

// set tells how much is done of the total; a total of 0 is not known.
func (p *progress) set(done, total uint64) {
	if p.bar != nil {
		p.bar.SetTotal(int64(total), false)
		p.bar.SetCurrent(int64(done))
		return
	}
	now := time.Now()
	if now.Sub(p.last) < plainInterval {
		return
	}
	p.last = now
	perSecond := float64(done) / now.Sub(p.started).Seconds()
	left := "?"
	if total > 0 && perSecond > 0 {
		left = time.Duration(float64(total-done) / perSecond * float64(time.Second)).Round(time.Second).String()
	}
	fmt.Fprintf(os.Stderr, "%d of %d %s, %.3g/s, %s left%s\n", done, total, p.what, perSecond, left, p.more())
}

// stop takes the bar away.
func (p *progress) stop() {
	if p.bar != nil {
		p.bar.Abort(true)
		p.pool.Wait()
	}
}
