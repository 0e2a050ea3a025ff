package measure

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"
)

// ReadAccesses reads an accesses.parquet and hands its rows over in file order,
// at most 32768 at a time; the slice is reused. Columns that the file does not
// have stay zero. In the rows Ledger.Last is the completion.
func ReadAccesses(path string, each func([]Access)) error {
	return readTable(path, accessColumns(), func(rows []Access) {
		for i := range rows {
			rows[i].Ledger.Last = rows[i].Complete
		}
		each(rows)
	})
}

// ReadInvalidations reads an invalidations.parquet like ReadAccesses.
func ReadInvalidations(path string, each func([]Invalidation)) error {
	return readTable(path, invalidationColumns(), each)
}

func readTable[T any](path string, columns []column[T], each func([]T)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return fmt.Errorf("%s: no Parquet file: %w", path, err)
	}
	for _, group := range file.RowGroups() {
		if err := readGroup(group, columns, each); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// readGroup fills batches of rows, column by column.
func readGroup[T any](group parquet.RowGroup, columns []column[T], each func([]T)) error {
	readers := make([]parquet.ColumnChunkValueReader, len(columns))
	for i, c := range columns {
		leaf, ok := group.Schema().Lookup(c.name)
		if !ok {
			continue
		}
		if kind := leaf.Node.Type().Kind(); kind != c.kind {
			return fmt.Errorf("column %s has type %v, not %v", c.name, kind, c.kind)
		}
		readers[i] = parquet.NewColumnChunkValueReader(group.ColumnChunks()[leaf.ColumnIndex])
		defer readers[i].Close()
	}
	left := group.NumRows()
	rows := make([]T, min(left, groupRows))
	for left > 0 {
		rows = rows[:min(left, groupRows)]
		clear(rows)
		for i, r := range readers {
			if err := readColumn(r, columns[i], rows); err != nil {
				return fmt.Errorf("column %s: %w", columns[i].name, err)
			}
		}
		each(rows)
		left -= int64(len(rows))
	}
	return nil
}

// readColumn sets one field of all rows. Values are used before the next read,
// which may free the page that holds their bytes.
func readColumn[T any](r parquet.ColumnChunkValueReader, c column[T], rows []T) error {
	if r == nil {
		return nil
	}
	var values [512]parquet.Value
	for len(rows) > 0 {
		n, err := r.ReadValues(values[:min(len(values), len(rows))])
		c.read(rows, values[:n])
		rows = rows[n:]
		if errors.Is(err, io.EOF) && len(rows) > 0 {
			return io.ErrUnexpectedEOF
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	return nil
}
