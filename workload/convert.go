package workload

import (
	"bufio"
	"io"
	"strconv"

	"rnicmmu/model"
)

// Convert writes t as CSV with the columns frame,time_ns,op,qp,psn,va,rkey,len.
// Of a capture it writes every packet with a RETH or an AtomicETH,
// retransmissions included: the frame's number, the time since the first frame,
// the opcode's name, and 8 for the length of an atomic. Of another trace it
// writes every access: its number, and the operation's name. What a trace does
// not tell stays empty. The result can be opened as a trace.
func Convert(w io.Writer, t *Trace) error {
	c := converter{out: bufio.NewWriter(w)}
	c.out.WriteString("frame,time_ns,op,qp,psn,va,rkey,len\n")
	read := c.accesses
	if t.format.Capture() {
		read = c.packets
	}
	if err := read(t); err != nil {
		return err
	}
	return c.out.Flush()
}

// converter writes rows; its bufio.Writer keeps the first error for Flush.
type converter struct {
	out  *bufio.Writer
	text []byte
}

// row is a row of the output; fields without their flag stay empty.
type row struct {
	number                uint64
	timePS                int64 // NoTime: empty
	op                    string
	qp, psn, key, len     uint32
	va                    model.VA
	hasPSN, hasVA, hasKey bool
}

func (c *converter) packets(t *Trace) error {
	return t.Packets(func(p *Packet) bool {
		if p.HasRETH || p.HasAtomicETH {
			c.put(&row{
				number: p.Frame, timePS: p.TimePS, op: p.Name(), qp: p.DestQP, psn: p.PSN, hasPSN: true,
				va: p.VA, hasVA: true, key: p.Key, hasKey: true, len: p.Len,
			})
		}
		return true
	})
}

func (c *converter) accesses(t *Trace) error {
	p, err := t.pass()
	if err != nil {
		return err
	}
	defer p.file.Close()
	var a Access
	for n := uint64(1); p.Next(&a); n++ {
		c.put(&row{
			number: n, timePS: a.TimePS, op: a.Op.String(), qp: a.QP,
			va: a.VA, hasVA: a.Op != model.OpSend, key: a.Key, hasKey: a.HasKey, len: a.Len,
		})
	}
	return p.Err()
}

func (c *converter) put(r *row) {
	b := strconv.AppendUint(c.text[:0], r.number, 10)
	b = append(b, ',')
	if r.timePS != NoTime {
		b = appendTime(b, r.timePS)
	}
	b = append(append(append(b, ','), r.op...), ',')
	b = strconv.AppendUint(b, uint64(r.qp), 10)
	b = append(b, ',')
	if r.hasPSN {
		b = strconv.AppendUint(b, uint64(r.psn), 10)
	}
	b = append(b, ',')
	if r.hasVA {
		b = strconv.AppendUint(append(b, "0x"...), uint64(r.va), 16)
	}
	b = append(b, ',')
	if r.hasKey {
		b = strconv.AppendUint(append(b, "0x"...), uint64(r.key), 16)
	}
	b = strconv.AppendUint(append(b, ','), uint64(r.len), 10)
	c.text = append(b, '\n')
	c.out.Write(c.text)
}

// appendTime appends picoseconds as nanoseconds, with decimals when they are due.
func appendTime(b []byte, ps int64) []byte {
	b = strconv.AppendInt(b, ps/1000, 10)
	if rest := ps % 1000; rest != 0 {
		b = append(b, '.', byte('0'+rest/100), byte('0'+rest/10%10), byte('0'+rest%10))
	}
	return b
}
