package measure

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

const contractAccessColumns = "id adapter qp op key va len issue_ps complete_ps status pages mpt_hits mpt_misses " +
	"mtt_hits mtt_misses mtt_merged iotlb_misses table_reads faults rnr_naks tcp_drops resends tlps pcie_bytes"

const contractInvalidationColumns = "id adapter trigger pages notified_ps sent_ps received_ps marked_ps drained_ps " +
	"acknowledged_ps iotlb_ps devtlb_ps done_ps"

// inOrder is the rows as a table holds them.
func inOrder(accesses []Access, invalidations []Invalidation) ([]Access, []Invalidation) {
	accesses, invalidations = slices.Clone(accesses), slices.Clone(invalidations)
	slices.SortStableFunc(accesses, func(a, b Access) int {
		return slices.Compare([]int64{int64(a.Complete), int64(a.Adapter), int64(a.ID)},
			[]int64{int64(b.Complete), int64(b.Adapter), int64(b.ID)})
	})
	slices.SortStableFunc(invalidations, func(a, b Invalidation) int {
		return slices.Compare([]int64{int64(a.Done), int64(a.Adapter), int64(a.ID)},
			[]int64{int64(b.Done), int64(b.Adapter), int64(b.ID)})
	})
	return accesses, invalidations
}

func TestTablesReadBack(t *testing.T) {
	for _, n := range []int{0, 1, batchRows, groupRows, groupRows + 1234} {
		dir := t.TempDir()
		accesses, invalidations := sampleRun(21, n)
		writeRun(t, dir, accesses, invalidations)
		accesses, invalidations = inOrder(accesses, invalidations)
		for i := range accesses {
			accesses[i].Placed = 0 // for the check alone: no column
		}
		var gotA []Access
		if err := ReadAccesses(filepath.Join(dir, AccessesFile), func(a []Access) { gotA = append(gotA, a...) }); err != nil {
			t.Fatal(err)
		}
		var gotV []Invalidation
		if err := ReadInvalidations(filepath.Join(dir, InvalidationsFile), func(v []Invalidation) { gotV = append(gotV, v...) }); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(gotA, accesses) || !slices.Equal(gotV, invalidations) {
			t.Errorf("%d accesses do not read back as they were written", n)
		}
	}
}

// Another reader, row by row, sees the contract's columns in its order with
// the rows' values.
func TestTablesReadByTheGenericReader(t *testing.T) {
	dir := t.TempDir()
	accesses, invalidations := sampleRun(22, 3000)
	writeRun(t, dir, accesses, invalidations)
	accesses, invalidations = inOrder(accesses, invalidations)

	names := strings.Fields(contractAccessColumns)
	for c := range NumCauses {
		names = append(names, "cause_"+c.String()+"_ps")
	}
	var want [][]string
	for i := range accesses {
		a, k := &accesses[i], &accesses[i].Counts
		row := []any{a.ID, a.Adapter, a.QP, a.Op, a.Key, uint64(a.VA), a.Len, int64(a.Issue), int64(a.Complete), a.Status,
			k.Pages, k.MPTHits, k.MPTMisses, k.MTTHits, k.MTTMisses, k.MTTMerged, k.IOTLBMisses, k.TableReads,
			k.Faults, k.RNRNaks, k.TCPDrops, k.Resends, k.TLPs, k.PCIeBytes}
		for _, c := range a.Ledger.Causes {
			row = append(row, int64(c))
		}
		want = append(want, printed(append(row, a.Warmup)))
	}
	compareGeneric(t, filepath.Join(dir, AccessesFile), append(names, "warmup"), want)

	want = nil
	for _, v := range invalidations {
		want = append(want, printed([]any{v.ID, v.Adapter, v.Trigger, v.Pages, int64(v.Notified), int64(v.Sent),
			int64(v.Received), int64(v.Marked), int64(v.Drained), int64(v.Acknowledged), int64(v.IOTLB),
			int64(v.DevTLB), int64(v.Done), int64(v.Checked), int64(v.Others), v.TimedOut, v.Warmup}))
	}
	compareGeneric(t, filepath.Join(dir, InvalidationsFile),
		append(strings.Fields(contractInvalidationColumns), "checked_ps", "others_ps", "timed_out", "warmup"), want)
}

func printed(values []any) []string {
	var out []string
	for _, v := range values {
		out = append(out, fmt.Sprint(v))
	}
	return out
}

func compareGeneric(t *testing.T, path string, names []string, want [][]string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	reader := parquet.NewGenericReader[any](f)
	defer reader.Close()
	var got []string
	for _, field := range reader.Schema().Fields() {
		got = append(got, field.Name())
	}
	if !slices.Equal(got, names) {
		t.Fatalf("columns %v\nwant %v", got, names)
	}
	rows := make([]parquet.Row, len(want)+1)
	n := 0
	for n < len(want) {
		k, err := reader.ReadRows(rows[n : n+1])
		if k == 0 {
			t.Fatalf("row %d: %v", n, err)
		}
		for c, v := range rows[n] {
			text := v.String()
			if names[c] == "va" {
				text = fmt.Sprint(v.Uint64())
			}
			if text != want[n][c] {
				t.Fatalf("row %d, %s: %s, want %s", n, names[c], text, want[n][c])
			}
		}
		n += k
	}
	if k, _ := reader.ReadRows(rows[:1]); k != 0 {
		t.Errorf("more than %d rows", len(want))
	}
}

func TestReadingForeignFilesGivesErrors(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.parquet")
	nothing := func([]Access) {}
	if err := ReadAccesses(path, nothing); err == nil {
		t.Error("a missing file gives no error")
	}
	if err := os.WriteFile(path, []byte("op,va,len\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ReadAccesses(path, nothing); err == nil || !strings.HasPrefix(err.Error(), path) {
		t.Errorf("text for Parquet: %v", err)
	}
	type foreign struct {
		ID string `parquet:"id"`
	}
	if err := parquet.WriteFile(path, []foreign{{"a"}}); err != nil {
		t.Fatal(err)
	}
	if err := ReadAccesses(path, nothing); err == nil || !strings.Contains(err.Error(), "column id") {
		t.Errorf("a column of another type: %v", err)
	}
	if _, err := ReadSummary(path); err == nil || !strings.HasPrefix(err.Error(), path) {
		t.Errorf("a table for a summary: %v", err)
	}
}

func TestCutTablesGiveErrors(t *testing.T) {
	dir := t.TempDir()
	accesses, _ := sampleRun(23, 50)
	writeRun(t, dir, accesses, nil)
	data, err := os.ReadFile(filepath.Join(dir, AccessesFile))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "cut.parquet")
	for n := 0; n < len(data); n += 97 {
		if err := os.WriteFile(path, data[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if err := ReadAccesses(path, func([]Access) {}); err == nil {
			t.Errorf("no error when cut at %d of %d bytes", n, len(data))
		}
	}
}

func TestFlattenNamesEveryFigureInOrder(t *testing.T) {
	s := sound()
	s.WallS, s.ResultHash, s.PCIe.Up.Utilisation = 3, "00ff", 0.25
	s.Violations = make([]Violation, 2)
	s.Advertise.Peers = make([]AdvertiseStats, 3)
	names, values := Flatten(s)
	again, _ := Flatten(Summary{})
	if !slices.Equal(names, again) {
		t.Error("the names depend on the values")
	}
	at := map[string]string{}
	last := -1
	for i, n := range names {
		if _, twice := at[n]; twice {
			t.Errorf("%s appears twice", n)
		}
		at[n] = values[i]
	}
	for _, c := range [][2]string{
		{"schema", ""}, {"simulated_ps", "0"}, {"result_hash", "00ff"}, {"accesses.issued", "90"},
		{"accesses.latency_ps.p999", "0"}, {"accesses.cause_ps.fault", "234"}, {"tpt.mpt.walks", "20"},
		{"tpt.mtt.lookups", "200"}, {"pcie.up.utilisation", "0.25"}, {"pcie.stalls_ps.tag", "0"},
		{"iommu.iotlb.misses", "25"}, {"invalidations.stale_deferred", "3"}, {"faults.qp_gone", "2"},
		{"cpu.stall_ps", "0"}, {"transport.rnr_naks.moving", "0"}, {"transport.rnr_naks.no_receive", "0"},
		{"advertise.refused", "0"}, {"violations", "2"},
	} {
		i := slices.Index(names, c[0])
		if i <= last || at[c[0]] != c[1] {
			t.Errorf("%s at %d (after %d) is %q, want %q", c[0], i, last, at[c[0]], c[1])
		}
		last = i
	}
	for _, n := range []string{"wall_s", "accesses_per_wall_s"} {
		if slices.Contains(names, n) {
			t.Errorf("%s depends on the machine", n)
		}
	}
}

func TestSummaryJSONIsOfTheContract(t *testing.T) {
	s := Summary{}
	data, err := s.JSON()
	if err != nil {
		t.Fatal(err)
	}
	text, last := string(data), -1
	for _, key := range strings.Fields("schema simulated_ps wall_s accesses_per_wall_s result_hash accesses tpt pcie iommu " +
		"invalidations faults cpu transport advertise violations") {
		i := strings.Index(text, "\n  \""+key+"\":")
		if i <= last {
			t.Errorf("%s is at %d, its forerunner at %d", key, i, last)
		}
		last = i
	}
	if strings.Contains(text, "interrupted") || !strings.Contains(text, `"violations": []`) {
		t.Errorf("empty summary: %s", text)
	}
}

func BenchmarkReadAccesses(b *testing.B) {
	dir := b.TempDir()
	accesses, _ := sampleRun(24, groupRows)
	writeRun(b, dir, accesses, nil)
	b.ResetTimer()
	for range b.N {
		if err := ReadAccesses(filepath.Join(dir, AccessesFile), func([]Access) {}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*groupRows/b.Elapsed().Seconds(), "rows/s")
}

func TestReadSummaryRefusesWhatIsNotOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), SummaryFile)
	notComplete := ": no complete results of layout rnicmmu.summary.1; run again"
	for text, want := range map[string]string{
		"":   ": no summary of a run: ",
		"[]": ": no summary of a run: ",
		"{}": notComplete,
		`{"schema": "rnicmmu.summary.0", "result_hash": "0123456789abcdef"}`: notComplete,
		`{"schema": "rnicmmu.summary.1", "result_hash": ""}`:                 notComplete,
		`{"schema": "rnicmmu.summary.1", "result_hash": "0123456789abcdef"}`: "",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ReadSummary(path)
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), path+want)) {
			t.Errorf("%s: %v; want %s", text, err, want)
		}
	}
}
