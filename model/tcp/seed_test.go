package tcp

import _ "rnicmmu/internal/seed"
