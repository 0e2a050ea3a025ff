package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// decoded runs the command by itself.
func decoded(args ...string) (string, error) {
	var out bytes.Buffer
	c := decodeCommand()
	c.SetArgs(append([]string{"tlp"}, args...))
	c.SetOut(&out)
	c.SetErr(io.Discard)
	c.SilenceErrors, c.SilenceUsage = true, true
	err := c.Execute()
	return out.String(), err
}

// TLPs put together by hand, however their digits are grouped.
func TestDecodeTLP(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"91012345 72000002 00080501 01000000 00000000 00000000 400ff801", `invalidate request
  from            00:01.0
  to              01:00.0
  ITag            5
  PASID           0x12345
  range           2 MiB at 0x40000000
  of every PASID  true
`},
		{"0x72000002_00081f01_01000000_00000000_7fffffff_fffff800", `invalidate request
  from            00:01.0
  to              01:00.0
  ITag            31
  range           the whole space
  of every PASID  false
`},
		{"32:00:00:00 01:00:00:02 00:08:00:00 80:00:00:20", `invalidate completion
  from         01:00.0
  to           00:01.0
  ITags        5, 31
  completions  8 for each
`},
		{"913ABCDE 00880410 0100A5FF 12345000", `translation request
  from          01:00.0
  tag           0x3a5
  PASID         0xabcde
  address       0x12345000
  translations  8
  wanted        read, write, execute, privileged
`},
		{"20000402 010721ff 00007fff 12345001", `translation request
  from          01:00.7
  tag           0x21
  address       0x7fff12345000
  translations  1
  wanted        read
`},
		{"4a004004 00080010 01f92130 00000000 00012827 00000000 00015e18", `translation completion
  from           00:01.0
  to             01:1f.1
  tag            0x21
  status         0: successful
  poisoned       the entries are not to be used
  byte count     16
  lower address  0x30
  entry 0        8 KiB at 0x12000: read, write, untranslated requests only, global
  entry 1        16 KiB at 0x14000: execute, privileged, no snoop, CXL.io
`},
		{"0a000000 00088000 01002100", `translation completion
  from           00:01.0
  to             01:00.0
  tag            0x21
  status         4: completer abort
  byte count     0
  lower address  0x0
`},
		{"91000001 30000000 01000004 00007fff 12345aaf", `page request
  from        01:00.0
  group       341
  last of it  true
  PASID       0x1
  address     0x7fff12345000
  wanted      read, write
`},
		{"91000001 30000000 01000004 00000000 00000004", `stop marker
  from        01:00.0
  group       0
  last of it  true
  PASID       0x1
  address     0x0
  wanted      nothing
`},
		{"32000000 00080005 01007155 00000000", `page request group response
  from   00:01.0
  to     01:00.0
  group  341
  code   7: reserved, counts as response failure
`},
	} {
		for _, args := range [][]string{{c.args}, strings.Fields(c.args)} {
			if got, err := decoded(args...); err != nil || got != c.want {
				t.Errorf("%q: %v\n%swant\n%s", args, err, got, c.want)
			}
		}
	}
}

func TestDecodeBadInput(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", "HEX is due"},
		{"3200000", "HEX: 7 digits: two for each byte are due"},
		{"32000x", `HEX: 'x' is no hexadecimal digit`},
		{"0x", "TLP of 0 B"},
		{"60000001 010000ff 00000001 00000000 00000000", "1 DW of data"},
		{"30000000 01000018 00000000 00000000", "byte 7 0x18: of ATS and PRI are"},
		{"72000002 00080501 01000000 00000000 00000000", "TLP of 20 B: its header says 24"},
		{"20000002 010021ff 00007fff 12345001", "address type 0"},
		{"00000001 0000000f 00000000", "; only TLPs of ATS and PRI are decoded"},          // a memory read
		{"40000001 0000000f 00000000 12345678", "; only TLPs of ATS and PRI are decoded"}, // a memory write
	} {
		out, err := decoded(strings.Fields(c.args)...)
		if err == nil || out != "" || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("decode tlp %s: error %v, output %q; want %q", c.args, err, out, c.want)
		}
	}
}
