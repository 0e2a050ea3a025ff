package measure

import (
	"io"
	"sync/atomic"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/snappy"
)

const (
	batchRows  = 1024  // rows handed to the writing goroutine at a time
	queueDepth = 4     // batches between the simulation and the writer
	groupRows  = 32768 // rows of a row group, a multiple of batchRows
)

// table writes rows to a Parquet file on a goroutine of its own. When that
// falls behind by queueDepth batches, add waits for it.
type table[T any] struct {
	batch  []T
	queue  chan []T
	free   chan []T
	done   chan struct{}
	failed atomic.Pointer[error]

	columns []column[T]
	group   *parquet.Buffer
	writer  *parquet.GenericWriter[any]
}

func newTable[T any](to io.Writer, name string, columns []column[T]) *table[T] {
	schema := schemaOf(name, columns)
	t := &table[T]{
		queue: make(chan []T, queueDepth), free: make(chan []T, queueDepth+2), done: make(chan struct{}),
		columns: columns,
		group:   parquet.NewBuffer(schema),
		// Delta encoding with snappy writes faster than with zstd, at 4 % more bytes.
		writer: parquet.NewGenericWriter[any](to, schema, parquet.Compression(&snappy.Codec{}),
			parquet.CreatedBy("rnicmmu", "1", "0"), parquet.PageBufferSize(64<<10)),
	}
	for range queueDepth + 1 {
		t.free <- nil // made on first use
	}
	go t.run()
	return t
}

// add copies a row into the current batch.
func (t *table[T]) add(row *T) {
	if t.batch == nil {
		if t.batch = <-t.free; t.batch == nil {
			t.batch = make([]T, 0, batchRows)
		}
	}
	t.batch = append(t.batch, *row)
	if len(t.batch) == batchRows {
		t.queue <- t.batch
		t.batch = nil
	}
}

// run writes batches; after an error it only takes them off the queue.
func (t *table[T]) run() {
	defer close(t.done)
	for rows := range t.queue {
		if t.failed.Load() == nil {
			t.fail(t.write(rows))
		}
		t.free <- rows[:0]
	}
}

func (t *table[T]) fail(err error) {
	if err != nil {
		t.failed.CompareAndSwap(nil, &err)
	}
}

func (t *table[T]) err() error {
	if err := t.failed.Load(); err != nil {
		return *err
	}
	return nil
}

func (t *table[T]) write(rows []T) error {
	for i, to := range t.group.ColumnBuffers() {
		if err := t.columns[i].write(to, rows); err != nil {
			return err
		}
	}
	if t.group.Len() < groupRows {
		return nil
	}
	return t.flush()
}

func (t *table[T]) flush() error {
	_, err := t.writer.WriteRowGroup(t.group)
	t.group.Reset()
	return err
}

// stop ends the goroutine once it has written what was added.
func (t *table[T]) stop() {
	if len(t.batch) > 0 {
		t.queue <- t.batch
		t.batch = nil
	}
	close(t.queue)
	<-t.done
}

// close stops and completes the file.
func (t *table[T]) close() error {
	t.stop()
	if t.err() == nil && t.group.Len() > 0 {
		t.fail(t.flush())
	}
	if t.err() == nil {
		t.fail(t.writer.Close())
	}
	return t.err()
}
