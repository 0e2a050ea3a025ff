package workload

// The parsers of numbers read bytes in place; strconv would need a string.

// parseUint reads hex after 0x, or decimal.
func parseUint(text []byte) (v uint64, ok bool) {
	if len(text) > 2 && text[0] == '0' && text[1]|0x20 == 'x' {
		return parseHex(text[2:])
	}
	if len(text) == 0 || len(text) > 20 {
		return 0, false
	}
	for _, c := range text {
		d := uint64(c - '0')
		if d > 9 || v > (1<<64-1-d)/10 {
			return 0, false
		}
		v = v*10 + d
	}
	return v, true
}

// parseHex reads hex digits without a prefix.
func parseHex(text []byte) (v uint64, ok bool) {
	if len(text) == 0 || len(text) > 16 {
		return 0, false
	}
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		v = v<<4 | uint64(c)
	}
	return v, true
}

// parseFraction reads the digits after a decimal point as a multiple of
// 10^-digits, dropping finer ones: "5" with 3 digits is 500.
func parseFraction(text []byte, digits int) (v uint64, ok bool) {
	for i := range max(digits, len(text)) {
		d := uint64(0)
		if i < len(text) {
			if d = uint64(text[i] - '0'); d > 9 {
				return 0, false
			}
		}
		if i < digits {
			v = v*10 + d
		}
	}
	return v, true
}
