package plots

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"

	"rnicmmu/clocked"
	"rnicmmu/measure"
)

// accessHistogram counts the latency of completed accesses after the warm-up.
// It reads the four columns that this takes; measure.ReadAccesses reads all,
// which takes ten times as long.
func accessHistogram(path string) (*histogram, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, readError(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, readError(path, err)
	}
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: no complete Parquet file: %w; run again", path, err)
	}
	h := &histogram{}
	for _, group := range file.RowGroups() {
		if err := h.addGroup(group); err != nil {
			return nil, fmt.Errorf("%s: %w; run again", path, err)
		}
	}
	return h, nil
}

// addGroup counts one row group, its columns side by side.
func (h *histogram) addGroup(group parquet.RowGroup) error {
	var latency [512]clocked.Time
	var counts [512]bool
	columns := [...]struct {
		name string
		kind parquet.Kind
		use  func(i int, v parquet.Value)
	}{
		{"issue_ps", parquet.Int64, func(i int, v parquet.Value) { latency[i] = -clocked.Time(v.Int64()) }},
		{"complete_ps", parquet.Int64, func(i int, v parquet.Value) { latency[i] += clocked.Time(v.Int64()) }},
		{"status", parquet.ByteArray, func(i int, v parquet.Value) { counts[i] = string(v.ByteArray()) == okStatus }},
		{"warmup", parquet.Boolean, func(i int, v parquet.Value) { counts[i] = counts[i] && !v.Boolean() }},
	}
	var readers [len(columns)]parquet.ColumnChunkValueReader
	for i, c := range columns {
		leaf, ok := group.Schema().Lookup(c.name)
		if !ok || leaf.Node.Type().Kind() != c.kind {
			return fmt.Errorf("no column %s of type %v: not a table of accesses", c.name, c.kind)
		}
		readers[i] = parquet.NewColumnChunkValueReader(group.ColumnChunks()[leaf.ColumnIndex])
		defer readers[i].Close()
	}
	for left := group.NumRows(); left > 0; {
		n := int(min(left, int64(len(latency))))
		for i, c := range columns {
			if err := readValues(readers[i], n, c.use); err != nil {
				return fmt.Errorf("column %s: %w", c.name, err)
			}
		}
		for i := range n {
			if counts[i] {
				h.add(latency[i])
			}
		}
		left -= int64(n)
	}
	return nil
}

var okStatus = measure.StatusOK.String()

// readValues hands over the next n values. Each is used before the next read,
// which may free the page that holds its bytes.
func readValues(r parquet.ColumnChunkValueReader, n int, use func(i int, v parquet.Value)) error {
	var values [512]parquet.Value
	for done := 0; done < n; {
		got, err := r.ReadValues(values[:n-done])
		for i, v := range values[:got] {
			use(done+i, v)
		}
		done += got
		if errors.Is(err, io.EOF) && done < n {
			return io.ErrUnexpectedEOF
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	return nil
}
