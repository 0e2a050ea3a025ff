package measure

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/parquet-go/parquet-go"

	"rnicmmu/clocked"
	"rnicmmu/model"
)

// column maps one field of a row to a column of a table.
type column[T any] struct {
	name  string
	kind  parquet.Kind
	typ   reflect.Type
	tag   string // options of the parquet tag
	write func(to parquet.ColumnBuffer, rows []T) error
	read  func(rows []T, values []parquet.Value)
}

// schemaOf is the table's schema, in the order of its columns.
func schemaOf[T any](name string, columns []column[T]) *parquet.Schema {
	fields := make([]reflect.StructField, len(columns))
	for i, c := range columns {
		fields[i] = reflect.StructField{
			Name: fmt.Sprintf("C%d", i),
			Type: c.typ,
			Tag:  reflect.StructTag(fmt.Sprintf("parquet:%q", c.name+c.tag)),
		}
	}
	return parquet.NewSchema(name, parquet.SchemaOf(reflect.New(reflect.StructOf(fields)).Interface()))
}

// integer is an INT64 column: ids, counts and picoseconds.
func integer[T any, N ~uint16 | ~uint32 | ~uint64 | ~int64](name string, at func(*T) *N) column[T] {
	var buf []int64
	return column[T]{
		name: name, kind: parquet.Int64, typ: reflect.TypeFor[int64](), tag: ",delta",
		write: func(to parquet.ColumnBuffer, rows []T) error {
			buf = slices.Grow(buf[:0], len(rows))[:len(rows)]
			for i := range rows {
				buf[i] = int64(*at(&rows[i]))
			}
			_, err := to.(parquet.Int64Writer).WriteInt64s(buf)
			return err
		},
		read: func(rows []T, values []parquet.Value) {
			for i, v := range values {
				*at(&rows[i]) = N(v.Int64())
			}
		},
	}
}

// address is a UINT64 column: kernel addresses have the top bit set.
func address[T any](name string, at func(*T) *model.VA) column[T] {
	var buf []uint64
	return column[T]{
		name: name, kind: parquet.Int64, typ: reflect.TypeFor[uint64](), tag: ",delta",
		write: func(to parquet.ColumnBuffer, rows []T) error {
			buf = slices.Grow(buf[:0], len(rows))[:len(rows)]
			for i := range rows {
				buf[i] = uint64(*at(&rows[i]))
			}
			_, err := to.(interface{ WriteUint64s([]uint64) (int, error) }).WriteUint64s(buf)
			return err
		},
		read: func(rows []T, values []parquet.Value) {
			for i, v := range values {
				*at(&rows[i]) = model.VA(v.Uint64())
			}
		},
	}
}

// flag is a BOOLEAN column.
func flag[T any](name string, at func(*T) *bool) column[T] {
	var buf []bool
	return column[T]{
		name: name, kind: parquet.Boolean, typ: reflect.TypeFor[bool](),
		write: func(to parquet.ColumnBuffer, rows []T) error {
			buf = buf[:0]
			for i := range rows {
				buf = append(buf, *at(&rows[i]))
			}
			_, err := to.(parquet.BooleanWriter).WriteBooleans(buf)
			return err
		},
		read: func(rows []T, values []parquet.Value) {
			for i, v := range values {
				*at(&rows[i]) = v.Boolean()
			}
		},
	}
}

// term is a dictionary-encoded string column with one of end names.
func term[T any, E interface {
	~uint8
	String() string
}](name string, end E, at func(*T) *E) column[T] {
	var buf, names []parquet.Value
	for e := range end {
		names = append(names, parquet.ValueOf(e.String()))
	}
	return column[T]{
		name: name, kind: parquet.ByteArray, typ: reflect.TypeFor[string](), tag: ",dict",
		write: func(to parquet.ColumnBuffer, rows []T) error {
			buf = buf[:0]
			for i := range rows {
				buf = append(buf, names[*at(&rows[i])])
			}
			_, err := to.WriteValues(buf)
			return err
		},
		read: func(rows []T, values []parquet.Value) {
			for i, v := range values {
				for e := range end {
					if string(v.ByteArray()) == e.String() {
						*at(&rows[i]) = e
					}
				}
			}
		},
	}
}

// accessColumns are the columns of accesses.parquet in order. They own buffers,
// so every writer has its own set.
func accessColumns() []column[Access] {
	columns := []column[Access]{
		integer("id", func(a *Access) *uint64 { return &a.ID }),
		integer("adapter", func(a *Access) *uint16 { return &a.Adapter }),
		integer("qp", func(a *Access) *uint32 { return &a.QP }),
		term("op", model.NumOps, func(a *Access) *model.Op { return &a.Op }),
		integer("key", func(a *Access) *uint32 { return &a.Key }),
		address("va", func(a *Access) *model.VA { return &a.VA }),
		integer("len", func(a *Access) *uint32 { return &a.Len }),
		integer("issue_ps", func(a *Access) *clocked.Time { return &a.Issue }),
		integer("complete_ps", func(a *Access) *clocked.Time { return &a.Complete }),
		term("status", NumStatuses, func(a *Access) *Status { return &a.Status }),
		integer("pages", func(a *Access) *uint32 { return &a.Counts.Pages }),
		integer("mpt_hits", func(a *Access) *uint32 { return &a.Counts.MPTHits }),
		integer("mpt_misses", func(a *Access) *uint32 { return &a.Counts.MPTMisses }),
		integer("mtt_hits", func(a *Access) *uint32 { return &a.Counts.MTTHits }),
		integer("mtt_misses", func(a *Access) *uint32 { return &a.Counts.MTTMisses }),
		integer("mtt_merged", func(a *Access) *uint32 { return &a.Counts.MTTMerged }),
		integer("iotlb_misses", func(a *Access) *uint32 { return &a.Counts.IOTLBMisses }),
		integer("table_reads", func(a *Access) *uint32 { return &a.Counts.TableReads }),
		integer("faults", func(a *Access) *uint32 { return &a.Counts.Faults }),
		integer("rnr_naks", func(a *Access) *uint32 { return &a.Counts.RNRNaks }),
		integer("tcp_drops", func(a *Access) *uint32 { return &a.Counts.TCPDrops }),
		integer("resends", func(a *Access) *uint32 { return &a.Counts.Resends }),
		integer("tlps", func(a *Access) *uint32 { return &a.Counts.TLPs }),
		integer("pcie_bytes", func(a *Access) *uint64 { return &a.Counts.PCIeBytes }),
	}
	for c := range NumCauses {
		columns = append(columns, integer("cause_"+c.String()+"_ps",
			func(a *Access) *clocked.Time { return &a.Ledger.Causes[c] }))
	}
	return append(columns, flag("warmup", func(a *Access) *bool { return &a.Warmup }))
}

// invalidationColumns are the columns of invalidations.parquet in order.
func invalidationColumns() []column[Invalidation] {
	type row = Invalidation
	return []column[row]{
		integer("id", func(v *row) *uint64 { return &v.ID }),
		integer("adapter", func(v *row) *uint16 { return &v.Adapter }),
		term("trigger", NumTriggers, func(v *row) *Trigger { return &v.Trigger }),
		integer("pages", func(v *row) *uint32 { return &v.Pages }),
		integer("notified_ps", func(v *row) *clocked.Time { return &v.Notified }),
		integer("sent_ps", func(v *row) *clocked.Time { return &v.Sent }),
		integer("received_ps", func(v *row) *clocked.Time { return &v.Received }),
		integer("marked_ps", func(v *row) *clocked.Time { return &v.Marked }),
		integer("drained_ps", func(v *row) *clocked.Time { return &v.Drained }),
		integer("acknowledged_ps", func(v *row) *clocked.Time { return &v.Acknowledged }),
		integer("iotlb_ps", func(v *row) *clocked.Time { return &v.IOTLB }),
		integer("devtlb_ps", func(v *row) *clocked.Time { return &v.DevTLB }),
		integer("done_ps", func(v *row) *clocked.Time { return &v.Done }),
		integer("checked_ps", func(v *row) *clocked.Time { return &v.Checked }),
		integer("others_ps", func(v *row) *clocked.Time { return &v.Others }),
		flag("timed_out", func(v *row) *bool { return &v.TimedOut }),
		flag("warmup", func(v *row) *bool { return &v.Warmup }),
	}
}
