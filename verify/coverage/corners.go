package coverage

// Corners are directed configurations: each comes to rare situations in less
// than a second.
var Corners = []Input{}
