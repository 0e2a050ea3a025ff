package calibrate

import (
	"context"
	"runtime"
	"sync"
)

// each calls do with 0 … n-1 on all processors and returns the error of the
// lowest. done is called after each, one at a time, with how many are over; nil:
// nobody listens. A context that ends leaves the rest undone.
func each(ctx context.Context, n int, done func(int), do func(int) error) error {
	var (
		mu      sync.Mutex
		wait    sync.WaitGroup
		next    int
		over    int
		failed  = n
		failure error
	)
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		i := next
		next++
		return i, i < n && failure == nil && ctx.Err() == nil
	}
	book := func(i int, err error) {
		mu.Lock()
		defer mu.Unlock()
		over++
		if err != nil && i < failed {
			failed, failure = i, err
		}
		if done != nil {
			done(over)
		}
	}
	for range min(n, runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				book(i, do(i))
			}
		})
	}
	wait.Wait()
	if failure == nil {
		failure = ctx.Err()
	}
	return failure
}
