package memory

import (
	"fmt"

	"rnicmmu/clocked"
)

// Akita describes the parts behind Akita's controllers, in cycles of their clock.
// The names are a data sheet's, without their t; a line's burst is four cycles.
type Akita struct {
	Clock clocked.Freq `key:"clock" default:"1466MHz" min:"1MHz" max:"10GHz" doc:"of the memory, half its transfers: four cycles are the time of a line" source:"[DRAMsim3]: DDR4-2933"`
	CL    int          `key:"cl" default:"21" min:"1" max:"200" doc:"read to data" source:"[DRAMsim3]: DDR4_8Gb_x8_2933.ini"`
	CWL   int          `key:"cwl" default:"16" min:"1" max:"200" doc:"write to data" source:"[DRAMsim3]: DDR4_8Gb_x8_2933.ini"`
	RCD   int          `key:"rcd" default:"21" min:"1" max:"200" doc:"activate to read or write" source:"[DRAMsim3]: DDR4_8Gb_x8_2933.ini"`
	RP    int          `key:"rp" default:"21" min:"1" max:"200" doc:"precharge to activate; Akita's model has a line's data after it, where a part has them after cl" source:"[DRAMsim3]: DDR4_8Gb_x8_2933.ini"`
	RAS   int          `key:"ras" default:"47" min:"1" max:"500" doc:"activate to precharge, at least rcd" source:"[DRAMsim3]: DDR4_8Gb_x8_2933.ini"`
	RTP   int          `key:"rtp" default:"11" min:"1" max:"200" doc:"read to precharge" source:"[DRAMsim3]: DDR4_8Gb_x8_2933.ini"`
	WR    int          `key:"wr" default:"22" min:"1" max:"200" doc:"end of a write to precharge" source:"[DRAMsim3]: DDR4_8Gb_x8_2933.ini"`
	CCDL  int          `key:"ccd_l" default:"8" min:"4" max:"200" doc:"access to access in a bank group" source:"[DRAMsim3]: DDR4_8Gb_x8_2933.ini"`
	RRDS  int          `key:"rrd_s" default:"4" min:"1" max:"200" doc:"activate to activate in another bank group" source:"[DRAMsim3]: DDR4_8Gb_x8_2933.ini"`
	RRDL  int          `key:"rrd_l" default:"8" min:"1" max:"200" doc:"activate to activate in a bank group" source:"[DRAMsim3]: DDR4_8Gb_x8_2933.ini"`
	WTRS  int          `key:"wtr_s" default:"4" min:"1" max:"200" doc:"end of a write to a read in another bank group" source:"[DRAMsim3]: DDR4_8Gb_x8_2933.ini"`
	WTRL  int          `key:"wtr_l" default:"11" min:"1" max:"200" doc:"end of a write to a read in its bank group" source:"[DRAMsim3]: DDR4_8Gb_x8_2933.ini"`
	RTRS  int          `key:"rtrs" default:"1" min:"1" max:"200" doc:"between bursts of two ranks" source:"[DRAMsim3]: DDR4_8Gb_x8_2933.ini"`
}

// check refuses timings with which a bank would be told to close a row that it
// is still opening.
func (s *Akita) check() error {
	if s.Clock < 1 || s.RAS < s.RCD {
		return fmt.Errorf("host.dram.akita.ras: %d cycles of %d Hz: at least rcd, %d, and a clock are due", s.RAS, s.Clock, s.RCD)
	}
	return nil
}
